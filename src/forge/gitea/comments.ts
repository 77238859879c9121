import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteComment } from '../port.ts'
import { cut } from '../texts.ts'
import type { GiteaClient } from './client.ts'
import { pathOf } from './paths.ts'
import { Comment } from './shapes.ts'

const BODY_CHARS = 65_536

const remoteComment = ({ id, html_url, user, body, created_at, updated_at }: Comment): RemoteComment => ({
  id,
  url: html_url,
  author: user?.login ?? '',
  body,
  created_at,
  edited: updated_at.getTime() !== created_at.getTime(),
  // Gitea's own actions, and accounts that were deleted, have numbers below one.
  is_bot: (user?.id ?? 0) < 1,
  author_association: '',
})

export async function createComment(
  client: GiteaClient,
  repo: ForgeRepository,
  number: number,
  body: string,
): Promise<RemoteComment> {
  const path = `${pathOf(repo)}/issues/${number}/comments`
  return remoteComment(await client.send(Comment, 'POST', path, { body: cut(body, BODY_CHARS) }))
}

export async function updateComment(
  client: GiteaClient,
  repo: ForgeRepository,
  id: number,
  body: string,
): Promise<void> {
  await client.send(Comment, 'PATCH', `${pathOf(repo)}/issues/comments/${id}`, {
    body: cut(body, BODY_CHARS),
  })
}

/** Deletes a comment. One that is gone already counts as deleted. Throws ForgeError otherwise. */
export async function deleteComment(client: GiteaClient, repo: ForgeRepository, id: number): Promise<void> {
  try {
    await client.nothing('DELETE', `${pathOf(repo)}/issues/comments/${id}`)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'not_found') throw error
  }
}

export const listComments = async (
  client: GiteaClient,
  repo: ForgeRepository,
  number: number,
): Promise<RemoteComment[]> =>
  (await client.get(Comment.array(), `${pathOf(repo)}/issues/${number}/comments`)).map(remoteComment)
