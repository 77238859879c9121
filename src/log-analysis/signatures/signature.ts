/**
 * A way in which programs say that something is wrong, in one line. `$1` to `$3` in the words stand for what the pattern caught. A pattern
 * begins with something literal or at the beginning of the line, and repeats nothing that is repeated: a hostile line costs no more than others.
 */
export type Signature = {
  code: string
  pattern: RegExp
  title: string
  /** Looked for in the lines right before; absent: the line says it alone. */
  near?: RegExp
  cause: string
  mend: string
  /** Said after something more exact, which is the cause where it is there too. */
  general?: true
  /** A test may well provoke it: behind the tests that failed where some did. */
  in_tests?: true
}
