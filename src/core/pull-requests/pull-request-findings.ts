import { type Finding, UNCLEAR_MESSAGE, type Verdict } from './commit-findings.ts'

/** A finding of an evaluation of a pull request, in the shape of the findings of commits. */
type PullRequestFinding = Omit<Finding, 'code'> & { code: PullRequestFindingCode }
type PullRequestFindingCode =
  | 'commits_failed'
  | 'conflict_with_base'
  | 'title_unclear'
  | 'title_too_long'
  | 'description_missing'
  | 'template_unanswered'
  | 'large_change'

/** The parts of a pull request that are evaluated. */
export type ProposedPullRequest = {
  title: string
  description: string
  base_branch: string
  /** Headings of the repository's template that the body leaves empty. */
  unanswered: string[]
  /** The verdict of the commit agent on the head; null: nothing was pushed in this turn. */
  commits: Verdict | null
  mergeable: 'clean' | 'conflict' | 'unknown'
  files_changed: number
  additions: number
  deletions: number
}

/** More than a person can review with care. */
const LARGE = { lines: 1_000, files: 50 }
const TITLE_CHARS = 100
const SHORT_CHARS = 20

/**
 * Returns the findings and the verdict. `fail`: one of the findings is an error, and the pull request stays a
 * draft until a person opens it or a later head passes.
 */
export function evaluatePullRequest(proposed: ProposedPullRequest): {
  verdict: Verdict
  findings: PullRequestFinding[]
} {
  const findings = [...errors(proposed), ...textFindings(proposed), ...size(proposed)]
  return { verdict: findings.some(({ severity }) => severity === 'error') ? 'fail' : 'pass', findings }
}

const of = (
  severity: Finding['severity'],
  code: PullRequestFindingCode,
  body: string,
): PullRequestFinding => ({
  path: null,
  line: null,
  severity,
  code,
  body,
})

const errors = ({ commits, mergeable, base_branch }: ProposedPullRequest) => [
  ...(commits === 'fail'
    ? [of('error', 'commits_failed', 'The findings in its commits were not fixed.')]
    : []),
  ...(mergeable === 'conflict'
    ? [of('error', 'conflict_with_base', `It does not go together with ${base_branch} as that is now.`)]
    : []),
]

function textFindings({ title, description, unanswered }: ProposedPullRequest): PullRequestFinding[] {
  return [
    ...(UNCLEAR_MESSAGE.test(title.trim())
      ? [of('warning', 'title_unclear', 'The title does not describe the change.')]
      : []),
    ...(title.length > TITLE_CHARS
      ? [of('info', 'title_too_long', `The title has ${title.length} characters.`)]
      : []),
    ...(description.trim().length < SHORT_CHARS
      ? [of('info', 'description_missing', 'The description is too short.')]
      : []),
    ...unanswered.map(heading =>
      of('warning', 'template_unanswered', `The section “${heading}” of the template is empty.`),
    ),
  ]
}

function size({ files_changed, additions, deletions }: ProposedPullRequest): PullRequestFinding[] {
  const lines = additions + deletions
  if (lines <= LARGE.lines && files_changed <= LARGE.files) return []
  return [
    of(
      'warning',
      'large_change',
      `It changes ${lines} lines of ${files_changed} files: few people read that with care.`,
    ),
  ]
}
