import type { ForgeRepository } from '../../core/forge-address.ts'
import type { RemoteCheck } from '../port.ts'
import { excerpt, time } from '../texts.ts'
import type { GitHubClient } from './client.ts'
import { isMark, isOwnCheckRun } from './marks.ts'
import { allPages } from './pages.ts'
import { listStatuses, newestOfEach } from './statuses.ts'

/** What apps say of a commit as check runs, and others as statuses: both count, the newest of each name, but for what we say of runs. */
export async function listChecks(client: GitHubClient, { owner, name }: ForgeRepository, sha: string): Promise<RemoteCheck[]> {
  const at = { owner, repo: name, ref: sha }
  const on = { owner, name }
  const runs = await allPages(page =>
    client.on(on, async octokit => {
      const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
        ...at,
        filter: 'latest',
        ...page,
      })
      return { headers, data: data.check_runs }
    }),
  )
  const statuses = newestOfEach(await listStatuses(client, on, sha))
  const own_login = statuses.some(isMark) ? (await client.identity()).login : null
  return [
    ...runs
      .filter(run => !isOwnCheckRun(client, run))
      .map(run => ({
        name: run.name,
        app: run.app?.slug ?? null,
        status:
          run.status === 'completed'
            ? ('completed' as const)
            : run.status === 'in_progress'
              ? ('in_progress' as const)
              : ('queued' as const),
        conclusion: run.conclusion,
        url: run.details_url ?? run.html_url,
        log_excerpt: excerpt([run.output.title, run.output.summary, run.output.text]),
        started_at: time(run.started_at),
        completed_at: time(run.completed_at),
      })),
    ...statuses
      .filter(status => !isMark(status) || status.creator?.login !== own_login)
      .map(status => ({
        name: status.context,
        app: null,
        status: status.state === 'pending' ? ('in_progress' as const) : ('completed' as const),
        conclusion: status.state === 'pending' ? null : status.state === 'success' ? 'success' : 'failure',
        url: status.target_url,
        log_excerpt: excerpt([status.description]),
        started_at: time(status.created_at),
        completed_at: status.state === 'pending' ? null : time(status.updated_at),
      })),
  ]
}
