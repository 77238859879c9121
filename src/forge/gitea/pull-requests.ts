import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { isMerged, mergedAt } from '../merge-fields.ts'
import {
  ForgeError,
  type MergeInput,
  type NewRemotePullRequest,
  type PullRequestChange,
  type RemotePullRequest,
  type RemoteState,
} from '../port.ts'
import { cut } from '../texts.ts'
import type { GiteaClient } from './client.ts'
import { pathOf } from './paths.ts'
import { PullRequest } from './shapes.ts'

const TITLE_CHARS = 250
const BODY_CHARS = 65_536
/**
 * Closed ones that are searched for a branch, most recently changed first: one that was created a moment ago
 * is among them.
 */
const MAX_CLOSED_PAGES = 6

const pull = (repo: ForgeRepository, number: number) => `${pathOf(repo)}/pulls/${number}`
const readPull = (client: GiteaClient, repo: ForgeRepository, number: number) =>
  client.get(PullRequest, pull(repo, number))

function stateOf(pr: PullRequest): RemoteState {
  if (isMerged(pr) && pr.merge_commit_sha !== '') return 'merged'
  if (pr.state !== 'open') return 'closed'
  return pr.draft || isMarked(pr.title) ? 'draft' : 'open'
}

function remotePullRequest(pr: PullRequest): RemotePullRequest {
  const state = stateOf(pr)
  return {
    node_id: null,
    number: pr.number,
    url: pr.html_url,
    state,
    title: plainTitle(pr.title),
    body: pr.body,
    // `ref` is not a branch once that was deleted; `label` always is.
    head_branch: pr.head.label || pr.head.ref,
    head_sha: pr.head.sha,
    base_branch: pr.base.ref,
    base_sha: pr.base.sha,
    merge_sha: state === 'merged' ? pr.merge_commit_sha : null,
    merged_at: state === 'merged' ? mergedAt(pr) : null,
    // Drafts, and pull requests that Gitea has not examined yet, count as not mergeable too.
    mergeable: pr.mergeable ? 'clean' : 'unknown',
  }
}

export const getPullRequest = async (
  client: GiteaClient,
  repo: ForgeRepository,
  number: number,
): Promise<RemotePullRequest> => remotePullRequest(await readPull(client, repo, number))

/**
 * Returns the open pull request of a branch, else the most recently changed one; null: there is none among
 * the pages that are read.
 */
export async function findPullRequest(
  client: GiteaClient,
  repo: ForgeRepository,
  head_branch: string,
): Promise<RemotePullRequest | null> {
  const find = async (query: Record<string, string>, max_pages?: number) => {
    for await (const page of client.pages(PullRequest, `${pathOf(repo)}/pulls`, query, max_pages)) {
      const found = page.find(
        ({ head, base }) => (head.label || head.ref) === head_branch && head.repo_id === base.repo_id,
      )
      if (found) return found
    }
    return null
  }
  const found =
    (await find({ state: 'open' })) ??
    (await find({ state: 'closed', sort: 'recentupdate' }, MAX_CLOSED_PAGES))
  return found && remotePullRequest(found)
}

/**
 * Creates a pull request, with its texts cut to Gitea's limits. Throws ForgeError `refused` if the branch has
 * one already.
 */
export async function createPullRequest(
  client: GiteaClient,
  repo: ForgeRepository,
  pr: NewRemotePullRequest,
): Promise<RemotePullRequest> {
  const title = cut(markedTitle(pr.title, pr.draft), TITLE_CHARS)
  const input = { title, body: cut(pr.body, BODY_CHARS), head: pr.head_branch, base: pr.base_branch }
  try {
    return remotePullRequest(await client.send(PullRequest, 'POST', `${pathOf(repo)}/pulls`, input))
  } catch (error) {
    if (!(error instanceof ForgeError) || error.http_status !== 409) throw error
    throw new ForgeError('refused', `A pull request of that branch already exists. ${error.message}`, {
      http_status: 409,
    })
  }
}

/** Changes the given fields. A new title keeps the mark by which Gitea knows a draft. Throws ForgeError. */
export async function updatePullRequest(
  client: GiteaClient,
  repo: ForgeRepository,
  number: number,
  { title, body, base_branch, state }: PullRequestChange,
): Promise<RemotePullRequest> {
  const is = title === undefined ? null : await readPull(client, repo, number)
  const marked = is !== null && (is.draft || isMarked(is.title))
  const change = {
    ...(title !== undefined && { title: cut(marked ? markedTitle(title, true) : title, TITLE_CHARS) }),
    ...(body !== undefined && { body: cut(body, BODY_CHARS) }),
    ...(base_branch !== undefined && { base: base_branch }),
    ...(state !== undefined && { state }),
  }
  return remotePullRequest(await client.send(PullRequest, 'PATCH', pull(repo, number), change))
}

/** Sets or removes the mark of a draft in the title. Throws ForgeError `refused` when it remains a draft. */
export async function setDraft(
  client: GiteaClient,
  repo: ForgeRepository,
  { number, title: plain }: Pick<RemotePullRequest, 'number' | 'title'>,
  draft: boolean,
): Promise<void> {
  const title = cut(markedTitle(plain, draft), TITLE_CHARS)
  const after = await client.send(PullRequest, 'PATCH', pull(repo, number), { title })
  if (!draft && after.draft)
    throw new ForgeError('refused', 'Gitea keeps it a draft, for a word in its title that is not known here.')
}

/**
 * Merges a pull request if its head is still `head_sha`. Throws ForgeError, with code `conflict` when Gitea
 * did not merge it.
 */
export async function mergePullRequest(
  client: GiteaClient,
  repo: ForgeRepository,
  number: number,
  { method, head_sha, message }: MergeInput,
): Promise<{ merge_sha: string }> {
  const [title = '', ...rest] = message.split('\n')
  const texts = { MergeTitleField: title, MergeMessageField: rest.join('\n').trim() }
  await client.nothing('POST', `${pull(repo, number)}/merge`, {
    Do: method,
    head_commit_id: head_sha,
    ...texts,
  })
  const merged = await readPull(client, repo, number)
  if (stateOf(merged) !== 'merged') throw new ForgeError('conflict', 'Gitea did not merge it.')
  return { merge_sha: merged.merge_commit_sha }
}

/**
 * A pull request on Gitea and Forgejo is a draft while its title begins with a configured word, `WIP:` or
 * `[WIP]` by default. Older versions do not report drafts. Here a title has no such word, and the state shows
 * it.
 */
const MARK = 'WIP: '
const KNOWN = /^\s*(?:(?:\[(?:wip|draft)\]|(?:wip|draft):)\s*)+/i

const plainTitle = (title: string): string => title.replace(KNOWN, '')
const isMarked = (title: string): boolean => KNOWN.test(title)
const markedTitle = (title: string, draft: boolean): string => `${draft ? MARK : ''}${plainTitle(title)}`
