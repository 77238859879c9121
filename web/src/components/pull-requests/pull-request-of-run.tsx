import { Link } from '@tanstack/react-router'
import type { AgentRun, RunPullRequest } from '../../../../src/contract/runs/runs.ts'
import { PullRequestActions } from './pull-request-actions.tsx'
import { PullRequestBranch } from './pull-request-branch.tsx'
import { PullRequestChecks } from './pull-request-checks.tsx'
import { PullRequestComments } from './pull-request-comments.tsx'

/**
 * What the trace page shows of a pull request. The checks are fetched again when the run adds an entry about
 * them.
 */
export default function PullRequestOfRun({ run, pr }: { run: AgentRun; pr: RunPullRequest }) {
  const { id, status, phase, total_logs, waiting_on, repo_id, organization_id } = run
  const state = [pr.head_sha, status, phase, phase === 'evaluate' ? total_logs : 0].join(' ')
  // The run has the combined checks of its newest pull request only.
  const checks_failing = run.checks?.state === 'failure' && run.github_pull_requests.at(-1)?.id === pr.id
  return (
    <>
      <PullRequestChecks pr_id={pr.id} state={state} poll={status === 'waiting' && waiting_on === 'ci'} />
      <PullRequestActions run_id={id} pr={pr} checks_failing={checks_failing} />
      <div className="mt-3 space-y-2 border-line border-t pt-2">
        {repo_id !== null && (
          <PullRequestBranch organization_id={organization_id} repo_id={repo_id} pr={pr} />
        )}
        <PullRequestComments pr={pr} />
        <Link
          to="/pull-requests/$prId"
          params={{ prId: String(pr.id) }}
          className="text-accent text-xs hover:underline"
        >
          Open the pull request page
        </Link>
      </div>
    </>
  )
}
