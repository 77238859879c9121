import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteCheck, type RemoteChecks } from '../port.ts'
import { outputOf } from '../texts.ts'
import type { GitHubClient } from './client.ts'
import { isMark, isOwnCheckRun } from './marks.ts'
import { allPages } from './pages.ts'
import { CheckRun } from './shapes.ts'
import { listStatuses, newestOfEach } from './statuses.ts'
import { listWorkflowRuns } from './workflow-runs.ts'

/**
 * Returns what apps report of a commit as check runs, and others as statuses: both count, the newest of each
 * name, except our own about runs. What GitHub refuses for lack of a permission is a gap, and the rest is
 * still read.
 */
export async function listChecks(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
): Promise<RemoteChecks> {
  const runs = await permitted(client.unlessRefused(repo, () => listCheckRuns(client, repo, sha)))
  const statuses = await permitted(listCommitStatuses(client, repo, sha))
  const workflows = runs instanceof ForgeError ? await permitted(listWorkflowRuns(client, repo, sha)) : []
  const read = [runs, workflows, statuses].filter(part => Array.isArray(part))
  // Where nothing is readable a 404 means the repository, which is not a matter of one permission.
  if (read.length === 0 && runs instanceof ForgeError && runs.code === 'not_found') throw runs
  const resource = workflows instanceof ForgeError ? 'check_runs' : 'app_check_runs'
  return {
    checks: read.flat(),
    gaps: [
      ...(runs instanceof ForgeError ? [{ resource, detail: runs.message } as const] : []),
      ...(statuses instanceof ForgeError
        ? [{ resource: 'commit_statuses', detail: statuses.message } as const]
        : []),
    ],
  }
}

/**
 * Resolves to the error where GitHub refuses the request for lack of a permission, which it reports as 403 or
 * hides as 404.
 */
async function permitted<T>(work: Promise<T>): Promise<T | ForgeError> {
  return work.catch(error => {
    if (error instanceof ForgeError && (error.code === 'forbidden' || error.code === 'not_found'))
      return error
    throw error
  })
}

async function listCheckRuns(
  client: GitHubClient,
  { owner, name }: ForgeRepository,
  sha: string,
): Promise<RemoteCheck[]> {
  const runs = await allPages({ shape: CheckRun, list: 'check_runs' }, page =>
    client.on({ owner, name }, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
        owner,
        repo: name,
        ref: sha,
        filter: 'latest',
        ...page,
      }),
    ),
  )
  return runs
    .filter(run => !isOwnCheckRun(client, run))
    .map(run => ({
      name: run.name,
      app: run.app?.slug ?? null,
      conclusion: run.conclusion,
      url: run.details_url ?? run.html_url,
      status: run.status === 'completed' || run.status === 'in_progress' ? run.status : 'queued',
      log_excerpt: outputOf([run.output.title, run.output.summary, run.output.text]),
      started_at: run.started_at,
      completed_at: run.completed_at,
    }))
}

async function listCommitStatuses(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
): Promise<RemoteCheck[]> {
  const statuses = newestOfEach(await listStatuses(client, repo, sha))
  const own_login = statuses.some(isMark) ? (await client.identity()).login : null
  return statuses
    .filter(status => !isMark(status) || status.creator?.login !== own_login)
    .map(status => {
      const pending = status.state === 'pending'
      return {
        name: status.context,
        app: null,
        status: pending ? 'in_progress' : 'completed',
        url: status.target_url,
        conclusion: pending ? null : status.state === 'success' ? 'success' : 'failure',
        log_excerpt: outputOf([status.description]),
        started_at: status.created_at,
        completed_at: pending ? null : status.updated_at,
      }
    })
}
