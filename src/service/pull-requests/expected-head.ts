import type { MergePullRequestInput } from '../../contract/pull-requests/pull-requests.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'

/**
 * Throws 409 unless the head branch is at the commit that the caller names or, without one, at the commit
 * that the service showed last: a merge never includes a commit that nobody could have seen
 * (decisions.md#merge-only-the-head-that-was-shown). `seen`: the row as it was before the branch was fetched.
 */
export function requireExpectedHead(
  seen: PullRequestRow,
  { expected_head_sha }: MergePullRequestInput,
  head_sha: string,
): void {
  const expected = expected_head_sha ?? seen.head_sha
  if (expected === head_sha) return
  const since = expected_head_sha == null ? ', where it was shown last' : ''
  throw new ServiceError(
    'conflict',
    `${seen.head_branch} is at ${head_sha} now, not at ${expected}${since}: review the newer change, then merge again with "expected_head_sha": "${head_sha}".`,
  )
}
