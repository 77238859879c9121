import { namesOf, type PathGlob, readPathGlob } from './path-glob.ts'
import { RUN_ELSEWHERE } from './run-elsewhere.ts'

/** Why a change of a file waits for an approval. `approval_path_changed`: the organization demands it. */
export type Approval = { code: 'ci_workflow_changed' | 'approval_path_changed'; body: string }

type Rule = Approval & { names: PathGlob }

const RULES: Rule[] = Object.entries(RUN_ELSEWHERE).flatMap(([who, globs]) =>
  globs.map(glob => ({
    names: readPathGlob(glob),
    code: 'ci_workflow_changed' as const,
    body: `Is run by ${who}: a person should review the change.`,
  })),
)

/**
 * Returns the function that decides which approval a change of a path needs; null: no approval. `globs`:
 * those of the organization. A path that is not UTF-8 is quoted. One call takes up to a millisecond.
 */
export function readApprovals(globs: readonly string[]): (path: string) => Approval | null {
  const own = globs.map(glob => ({
    names: readPathGlob(glob),
    code: 'approval_path_changed' as const,
    body: `The organization demands an approval for changes of ${glob}.`,
  }))
  const rules: Rule[] = [...own, ...RULES]
  return path => {
    const names = namesOf(path.replace(/^"(.*)"$/s, '$1'))
    const rule = rules.find(each => each.names(names))
    return rule ? { code: rule.code, body: rule.body } : null
  }
}

/**
 * Returns whether a person must approve commits with these findings. The operator may decide that what runs
 * elsewhere needs none.
 */
export const needsApproval = (findings: { code: string }[], approve_ci_changes: boolean): boolean =>
  findings.some(
    ({ code }) => code === 'approval_path_changed' || (approve_ci_changes && code === 'ci_workflow_changed'),
  )
