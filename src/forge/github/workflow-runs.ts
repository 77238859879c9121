import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import type { RemoteCheck } from '../port.ts'
import { outputOf } from '../texts.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { WorkflowRun } from './shapes.ts'

/**
 * Returns the workflow runs of GitHub Actions for a commit as checks, the newest of each workflow and event:
 * a substitute for check runs with credentials that may read "Actions" and not "Checks", as fine-grained
 * tokens do.
 */
export async function listWorkflowRuns(
  client: GitHubClient,
  { owner, name }: ForgeRepository,
  sha: string,
): Promise<RemoteCheck[]> {
  const rows = await allPages({ shape: WorkflowRun, list: 'workflow_runs' }, page =>
    client.on({ owner, name }, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/actions/runs', {
        owner,
        repo: name,
        head_sha: sha,
        ...page,
      }),
    ),
  )
  const newest = new Map<string, (typeof rows)[number]>()
  for (const row of rows.toSorted((one, other) => other.id - one.id)) {
    const key = `${row.workflow_id} ${row.event}`
    if (!newest.has(key)) newest.set(key, row)
  }
  return [...newest.values()].map(row => {
    const completed = row.status === 'completed'
    const status = completed ? 'completed' : row.status === 'in_progress' ? 'in_progress' : 'queued'
    return {
      name: row.name || row.path,
      app: 'github-actions',
      status,
      conclusion: completed ? row.conclusion : null,
      url: row.html_url,
      log_excerpt: outputOf([
        row.display_title,
        `Workflow ${row.path}, run ${row.run_number}: its log is at ${row.html_url}`,
      ]),
      started_at: row.run_started_at,
      completed_at: completed ? row.updated_at : null,
    }
  })
}
