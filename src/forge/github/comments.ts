import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteComment } from '../port.ts'
import { readResponse } from '../read-response.ts'
import { cut } from '../texts.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { Comment } from './shapes.ts'

const BODY_CHARS = 65_536

const at = ({ owner, name }: ForgeRepository) => ({ owner, repo: name })

const remoteComment = (row: Comment): RemoteComment => ({
  id: row.id,
  url: row.html_url,
  author: row.user?.login ?? '',
  body: row.body,
  is_bot: row.user?.type !== 'User' || row.performed_via_github_app != null,
  author_association: row.author_association,
  created_at: row.created_at,
  edited: row.updated_at?.getTime() !== row.created_at.getTime(),
})

export async function createComment(
  client: GitHubClient,
  repo: ForgeRepository,
  number: number,
  body: string,
): Promise<RemoteComment> {
  const input = { ...at(repo), issue_number: number, body: cut(body, BODY_CHARS) }
  const { data } = await client.on(repo, octokit =>
    octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', input),
  )
  return remoteComment(readResponse('GitHub', Comment, data))
}

export async function updateComment(
  client: GitHubClient,
  repo: ForgeRepository,
  comment_id: number,
  body: string,
): Promise<void> {
  const input = { ...at(repo), comment_id, body: cut(body, BODY_CHARS) }
  await client.on(repo, octokit =>
    octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', input),
  )
}

/** Deletes a comment. One that is gone already counts as deleted. Throws ForgeError otherwise. */
export async function deleteComment(
  client: GitHubClient,
  repo: ForgeRepository,
  comment_id: number,
): Promise<void> {
  try {
    await client.on(repo, octokit =>
      octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', {
        ...at(repo),
        comment_id,
      }),
    )
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'not_found') throw error
  }
}

/** Returns all comments of an issue or pull request, without those on lines of code. Throws ForgeError. */
export async function listComments(
  client: GitHubClient,
  repo: ForgeRepository,
  number: number,
): Promise<RemoteComment[]> {
  const input = { ...at(repo), issue_number: number }
  const rows = await allPages({ shape: Comment }, page =>
    client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...input, ...page }),
    ),
  )
  return rows.map(remoteComment)
}
