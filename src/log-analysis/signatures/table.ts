import compiled from './compiled.json' with { type: 'json' }
import git from './git.json' with { type: 'json' }
import network from './network.json' with { type: 'json' }
import node from './node.json' with { type: 'json' }
import python from './python.json' with { type: 'json' }
import scripting from './scripting.json' with { type: 'json' }
import system from './system.json' with { type: 'json' }
import uncaught from './uncaught.json' with { type: 'json' }

/** A row of the tables beside this file: a one-line error message of programs. */
type Row = {
  code: string
  /**
   * Regular expressions, of which one must match the line. Each begins with a literal or at the beginning of
   * the line, and takes linear time: a hostile line costs no more than others. Groups are counted over all of
   * them.
   */
  patterns: string[]
  ignore_case?: boolean
  /** Must match one of the lines directly before; absent: the line is sufficient. */
  near?: string[]
  title: string
  /** `$1` to `$6` in `cause` and `remedy` are replaced by what the groups matched. */
  cause: string
  remedy: string
  /** Follows a more specific error, which is the cause if present. */
  general?: boolean
  /** A test may provoke it: listed after the failed tests, if there are any. */
  in_tests?: boolean
}

export type Signature = Omit<Row, 'patterns' | 'ignore_case' | 'near'> & {
  pattern: RegExp
  near: RegExp | null
}

/** `uncaught`: errors without a better explanation than their own text, after all specific ones. */
const rows: Row[] = [network, git, python, node, compiled, scripting, system, uncaught].flat()

const all = rows.map(
  ({ patterns, ignore_case, near, ...row }): Signature => ({
    ...row,
    pattern: new RegExp(patterns.join('|'), ignore_case ? 'i' : ''),
    near: near ? new RegExp(near.join('|')) : null,
  }),
)

/** The first match decides: general ones come last. */
export const signatures: readonly Signature[] = [
  ...all.filter(({ general }) => !general),
  ...all.filter(({ general }) => general),
]
