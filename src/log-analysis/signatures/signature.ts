/**
 * A one-line error message of programs. `$1` to `$3` in the texts are replaced by captures. A pattern begins with a literal or at the
 * beginning of the line, and has no nested repetition: a hostile line costs no more than others.
 */
export type Signature = {
  code: string
  pattern: RegExp
  title: string
  /** Must match one of the lines directly before; absent: the line is sufficient. */
  near?: RegExp
  cause: string
  remedy: string
  /** Follows a more specific error, which is the cause if present. */
  general?: true
  /** A test may provoke it: listed after the failed tests, if there are any. */
  in_tests?: true
}
