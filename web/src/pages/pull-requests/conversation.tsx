import type { ReactNode } from 'react'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import type { RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { Markdown } from '../../components/markdown.tsx'
import { PageTitle } from '../../components/page.tsx'
import { ChecksMark } from '../../components/pull-requests/checks-mark.tsx'
import { PullRequestActions } from '../../components/pull-requests/pull-request-actions.tsx'
import { PullRequestBranch } from '../../components/pull-requests/pull-request-branch.tsx'
import { PullRequestChecks } from '../../components/pull-requests/pull-request-checks.tsx'
import { PullRequestComments } from '../../components/pull-requests/pull-request-comments.tsx'
import { RunsOfPullRequest } from './runs-of-pull-request.tsx'
import { usePullRequest } from './use-pull-request.ts'

/** As a run contains it. */
const inRun = (pull_request: PullRequest): RunPullRequest => ({
  ...pull_request,
  head_branch_name: pull_request.head_branch,
  base_branch_name: pull_request.base_branch,
})

/** The first tab: description, checks, merge and comments, and beside them the run and the branch. */
export function PullRequestConversation() {
  const pull_request = usePullRequest()
  const { id, title, number, body, head_sha, checks, agent_run_id, organization_id, repo_id } = pull_request
  const pr = inRun(pull_request)
  return (
    <div className="grid items-start gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_19rem]">
      <PageTitle>{`${title} #${number}`}</PageTitle>
      <div className="min-w-0 space-y-4">
        <h2 className="sr-only">Conversation</h2>
        <Box label="Description">
          {body.trim() === '' ? <p className="text-faint">No description.</p> : <Markdown text={body} />}
        </Box>
        <Box label="Checks and merge">
          {checks.state === 'none' && <ChecksMark summary={checks} />}
          <PullRequestChecks
            pr_id={id}
            state={[head_sha, checks.state, checks.passed, checks.failed, checks.pending].join(' ')}
            poll={checks.pending > 0}
          />
          <PullRequestActions run_id={agent_run_id} pr={pr} checks_failing={checks.state === 'failure'} />
          {pr.state === 'merged' && (
            <p className="mt-2 text-muted">
              It is merged. The commit of the merge is on {pr.base_branch_name}.
            </p>
          )}
        </Box>
        <PullRequestComments pr={pr} />
      </div>
      <div className="min-w-0 space-y-4">
        <h2 className="sr-only">Run and branch</h2>
        <Box label="Run">
          <RunsOfPullRequest agent_run_id={agent_run_id} pr_id={id} />
        </Box>
        <Box label="Branch">
          <PullRequestBranch organization_id={organization_id} repo_id={repo_id} pr={pr} />
        </Box>
      </div>
    </div>
  )
}

const Box = ({ label, children }: { label: string; children: ReactNode }) => (
  <section aria-label={label} className="rounded-lg border border-line bg-surface px-3.5 py-3">
    <h3 className="mb-1.5 text-muted text-xs">{label}</h3>
    {children}
  </section>
)
