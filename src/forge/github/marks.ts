import type { ForgeRepository } from '../../core/forge-address.ts'
import { MARK_NAME } from '../../core/run-mark.ts'
import { type CommitMark, ForgeError } from '../port.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { listStatuses } from './statuses.ts'

/** A status of that name; whether it is ours goes by who made it. */
export const isMark = ({ context }: { context: string }): boolean => context.toLowerCase() === MARK_NAME
export const isOwnCheckRun = (client: GitHubClient, run: { name: string; app: { id: number | bigint } | null }): boolean =>
  run.name === MARK_NAME && run.app !== null && Number(run.app.id) === client.app_id

/** As a check run, which apps alone may write; as a status for everybody else, and for an app whose owner does not let it write checks. */
export async function markCommit(client: GitHubClient, repo: ForgeRepository, sha: string, mark: CommitMark): Promise<void> {
  if (!client.isApp) return writeStatus(client, repo, sha, mark)
  try {
    await writeCheckRun(client, repo, sha, mark)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'forbidden') throw error
    await writeStatus(client, repo, sha, mark)
  }
}

/** The one of the run is looked for first, so that an answer that was lost makes no second one. One that has ended stays so: a run that goes on has another. */
async function writeCheckRun(client: GitHubClient, repo: ForgeRepository, sha: string, mark: CommitMark): Promise<void> {
  const at = { owner: repo.owner, repo: repo.name }
  const all = await allPages(page =>
    client.on(repo, async octokit => {
      const { data, headers } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
        ...{ ...at, ref: sha, check_name: MARK_NAME, filter: 'all', ...page },
      })
      return { headers, data: data.check_runs }
    }),
  )
  const own = all.filter(run => isOwnCheckRun(client, run) && run.external_id === mark.external_id)
  const newest = own.toSorted((one, other) => Number(other.id) - Number(one.id))[0]
  const { title, summary, external_id, url, conclusion } = mark
  if (newest?.status === mark.status && newest.conclusion === conclusion && newest.output.title === title) return
  const said = {
    ...{ external_id, details_url: url, output: { title, summary } },
    ...(mark.status === 'completed' ? { status: mark.status, conclusion: conclusion ?? 'neutral' } : { status: mark.status }),
  }
  const goes_on = newest?.status !== 'completed' || mark.status === 'completed'
  await client.on(repo, async octokit => {
    if (newest && goes_on)
      await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...at, check_run_id: Number(newest.id), ...said })
    else await octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...at, name: MARK_NAME, head_sha: sha, ...said })
  })
}

const states = { success: 'success', neutral: 'success', failure: 'failure', cancelled: 'error' } as const

/** What was said last counts: it is looked at first, so that nothing is said twice. */
async function writeStatus(client: GitHubClient, repo: ForgeRepository, sha: string, mark: CommitMark): Promise<void> {
  const state = mark.conclusion === null ? 'pending' : states[mark.conclusion]
  const { login } = await client.identity()
  const last = (await listStatuses(client, repo, sha)).find(status => isMark(status) && status.creator?.login === login)
  if (last?.state === state && last.target_url === mark.url && last.description === mark.title) return
  await client.on(repo, octokit =>
    octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
      ...{ owner: repo.owner, repo: repo.name, sha, state, target_url: mark.url, description: mark.title, context: MARK_NAME },
    }),
  )
}
