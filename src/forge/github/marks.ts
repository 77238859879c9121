import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { MARK_NAME, markKey } from '../../core/forges/run-mark.ts'
import { type CommitMark, ForgeError } from '../port.ts'
import { readResponse } from '../read-response.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { CheckRun } from './shapes.ts'
import { listStatuses } from './statuses.ts'
import type { WrittenMark } from './written-marks.ts'

/** Returns whether a status has the name of our marks; whether it is ours depends on its creator. */
export const isMark = ({ context }: { context: string }): boolean => context.toLowerCase() === MARK_NAME
export const isOwnCheckRun = (client: GitHubClient, run: Pick<CheckRun, 'name' | 'app'>): boolean =>
  run.name === MARK_NAME && run.app !== null && run.app.id === client.app_id

/**
 * Marks a commit by a check run, which only apps may write; otherwise, and for an app without that
 * permission, by a status. Throws ForgeError.
 */
export async function markCommit(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
  mark: CommitMark,
): Promise<void> {
  if (!client.isApp) return writeStatus(client, repo, sha, mark)
  try {
    await writeCheckRun(client, repo, sha, mark)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'forbidden') throw error
    await writeStatus(client, repo, sha, mark)
  }
}

/**
 * An unknown current mark is read first, so that a lost response leads to no second one. A completed check
 * run stays completed: a new turn gets another.
 */
async function writeCheckRun(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
  mark: CommitMark,
): Promise<void> {
  const at = { owner: repo.owner, repo: repo.name }
  const key = `${repo.owner}/${repo.name} ${sha} ${mark.external_id}`
  const newest =
    mark.before === null
      ? undefined
      : (client.marks.get(key, mark.before) ?? (await findCheckRun(client, repo, sha, mark)))
  const { title, summary, external_id, url, conclusion } = mark
  if (newest?.key === markKey(mark)) return
  const content = {
    external_id,
    details_url: url,
    output: { title, summary },
    ...(mark.status === 'completed'
      ? { status: mark.status, conclusion: conclusion ?? 'neutral' }
      : { status: mark.status }),
  }
  const updates = newest !== undefined && (!newest.completed || mark.status === 'completed')
  const { data } = await client.on(repo, async octokit =>
    updates
      ? octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
          ...at,
          check_run_id: newest.id,
          ...content,
        })
      : octokit.request('POST /repos/{owner}/{repo}/check-runs', {
          ...at,
          name: MARK_NAME,
          head_sha: sha,
          ...content,
        }),
  )
  const { id } = readResponse('GitHub', CheckRun, data)
  client.marks.set(key, { id, completed: mark.status === 'completed', key: markKey(mark) })
}

async function findCheckRun(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
  mark: CommitMark,
): Promise<WrittenMark | undefined> {
  const at = { owner: repo.owner, repo: repo.name }
  const all = await allPages({ shape: CheckRun, list: 'check_runs' }, page =>
    client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
        ...at,
        ref: sha,
        check_name: MARK_NAME,
        filter: 'all',
        ...page,
      }),
    ),
  )
  const own = all.filter(run => isOwnCheckRun(client, run) && run.external_id === mark.external_id)
  const newest = own.toSorted((one, other) => other.id - one.id)[0]
  if (newest === undefined) return undefined
  const { status, conclusion } = newest
  const key = `${status} ${conclusion} ${newest.output.title}`
  return { id: newest.id, completed: status === 'completed', key }
}

const states = { success: 'success', neutral: 'success', failure: 'failure', cancelled: 'error' } as const

/** The last status counts. An unknown one is read first, so that none is repeated. */
async function writeStatus(
  client: GitHubClient,
  repo: ForgeRepository,
  sha: string,
  mark: CommitMark,
): Promise<void> {
  const state = mark.conclusion === null ? 'pending' : states[mark.conclusion]
  if (mark.before === undefined) {
    const { login } = await client.identity()
    const last = (await listStatuses(client, repo, sha)).find(
      status => isMark(status) && status.creator?.login === login,
    )
    if (last?.state === state && last.target_url === mark.url && last.description === mark.title) return
  }
  await client.on(repo, octokit =>
    octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
      owner: repo.owner,
      repo: repo.name,
      sha,
      state,
      target_url: mark.url,
      description: mark.title,
      context: MARK_NAME,
    }),
  )
}
