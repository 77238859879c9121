import { z } from 'zod'
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
import { readResponse } from '../read-response.ts'
import { cut } from '../texts.ts'
import type { GitHubClient } from './client.ts'
import { Merge, PullRequest } from './shapes.ts'

const TITLE_CHARS = 256
const BODY_CHARS = 65_536

const at = ({ owner, name }: ForgeRepository) => ({ owner, repo: name })

/** Returns a pull request by its number. Throws ForgeError, with code `not_found` when there is none. */
export async function getPullRequest(
  client: GitHubClient,
  repo: ForgeRepository,
  number: number,
): Promise<RemotePullRequest> {
  const { data } = await client.on(repo, octokit =>
    octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...at(repo), pull_number: number }),
  )
  return remotePullRequest(data)
}

/**
 * Returns the open pull request of a branch of the repository itself, else its newest one; null: there is
 * none.
 */
export async function findPullRequest(
  client: GitHubClient,
  repo: ForgeRepository,
  head_branch: string,
): Promise<RemotePullRequest | null> {
  const head = `${repo.owner}:${head_branch}`
  const { data } = await client.on(repo, octokit =>
    octokit.request('GET /repos/{owner}/{repo}/pulls', {
      ...at(repo),
      head,
      state: 'all',
      sort: 'created',
      direction: 'desc',
    }),
  )
  // After an account was renamed, `head` finds nothing, or everything.
  const own = readResponse('GitHub', z.array(PullRequest), data).filter(
    ({ head, base }) => head.ref === head_branch && head.repo !== null && head.repo.id === base.repo?.id,
  )
  const found = own.find(pr => pr.state === 'open') ?? own[0]
  return found === undefined ? null : inTermsOfPort(found)
}

/**
 * Creates a pull request, with its texts cut to GitHub's limits; not as a draft where the plan has no drafts.
 * Throws ForgeError.
 */
export async function createPullRequest(
  client: GitHubClient,
  repo: ForgeRepository,
  pr: NewRemotePullRequest,
): Promise<RemotePullRequest> {
  const input = {
    title: cut(pr.title, TITLE_CHARS),
    body: cut(pr.body, BODY_CHARS),
    head: pr.head_branch,
    base: pr.base_branch,
  }
  const create = (draft: boolean) =>
    client.on(repo, octokit =>
      octokit.request('POST /repos/{owner}/{repo}/pulls', { ...at(repo), ...input, draft }),
    )
  try {
    return remotePullRequest((await create(pr.draft)).data)
  } catch (error) {
    // Private repositories of some plans have no drafts.
    const drafts =
      pr.draft && error instanceof ForgeError && error.code === 'refused' && /draft/i.test(error.message)
    if (!drafts) throw error
    return remotePullRequest((await create(false)).data)
  }
}

/** Changes the given fields and returns the pull request as it is then. Throws ForgeError. */
export async function updatePullRequest(
  client: GitHubClient,
  repo: ForgeRepository,
  number: number,
  { title, body, base_branch, state }: PullRequestChange,
): Promise<RemotePullRequest> {
  const change = {
    ...(title !== undefined && { title: cut(title, TITLE_CHARS) }),
    ...(body !== undefined && { body: cut(body, BODY_CHARS) }),
    ...(base_branch !== undefined && { base: base_branch }),
    ...(state !== undefined && { state }),
  }
  const { data } = await client.on(repo, octokit =>
    octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
      ...at(repo),
      pull_number: number,
      ...change,
    }),
  )
  return remotePullRequest(data)
}

/**
 * Makes a pull request a draft, or ready for review, by GraphQL, which alone can do it. Throws ForgeError.
 */
export async function setDraft(
  client: GitHubClient,
  repo: ForgeRepository,
  { node_id }: Pick<RemotePullRequest, 'node_id'>,
  draft: boolean,
): Promise<void> {
  const mutation = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
  const query = `mutation($id: ID!) { ${mutation}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  const result = await client.on(repo, octokit =>
    octokit.graphql<Record<string, unknown>>(query, { id: node_id }),
  )
  if (typeof result[mutation] !== 'object')
    throw new ForgeError('answer', 'The response of GitHub does not contain the pull request.')
}

/**
 * Merges a pull request if its head is still `head_sha`. Throws ForgeError, with code `conflict` when GitHub
 * did not merge it.
 */
export async function mergePullRequest(
  client: GitHubClient,
  repo: ForgeRepository,
  number: number,
  { method, head_sha, message }: MergeInput,
): Promise<{ merge_sha: string }> {
  const [title = '', ...rest] = message.split('\n')
  const texts = { commit_title: title, commit_message: rest.join('\n').trim() }
  const { data } = await client.on(repo, octokit =>
    octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
      ...at(repo),
      pull_number: number,
      ...texts,
      merge_method: method,
      sha: head_sha,
    }),
  )
  const { merged, message: reason, sha } = readResponse('GitHub', Merge, data)
  if (!merged) throw new ForgeError('conflict', `GitHub did not merge it: ${reason}`)
  return { merge_sha: sha }
}

/**
 * Returns a pull request of GitHub, from a list or alone, in the terms of the port. Merge fields are null
 * until it is merged. ForgeError `answer`.
 */
const remotePullRequest = (data: unknown): RemotePullRequest =>
  inTermsOfPort(readResponse('GitHub', PullRequest, data))

function inTermsOfPort(pr: PullRequest): RemotePullRequest {
  const state = stateOf(pr)
  return {
    number: pr.number,
    node_id: pr.node_id || null,
    url: pr.html_url,
    state,
    title: pr.title,
    body: pr.body,
    head_branch: pr.head.ref,
    head_sha: pr.head.sha,
    base_branch: pr.base.ref,
    base_sha: pr.base.sha,
    merge_sha: state === 'merged' ? pr.merge_commit_sha : null,
    merged_at: state === 'merged' ? mergedAt(pr) : null,
    mergeable: pr.mergeable === true ? 'clean' : pr.mergeable === false ? 'conflict' : 'unknown',
  }
}

function stateOf(pr: PullRequest): RemoteState {
  // The merge commit is known a moment after the merge; until then it counts as closed and is polled again.
  if (isMerged(pr) && pr.merge_commit_sha !== null) return 'merged'
  if (pr.state !== 'open') return 'closed'
  return pr.draft ? 'draft' : 'open'
}
