import type { z } from 'zod'
import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteListing, type RemotePermission } from '../port.ts'
import { readResponse } from '../read-response.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { Installation, Permission, Repository } from './shapes.ts'

/** Returns what an account may do in a repository; `none` for one that is unknown. Throws ForgeError. */
export async function permissionOf(
  client: GitHubClient,
  { owner, name: repo }: ForgeRepository,
  login: string,
): Promise<RemotePermission> {
  try {
    const { data } = await client.on({ owner, name: repo }, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
        owner,
        repo,
        username: login,
      }),
    )
    const { permission } = readResponse('GitHub', Permission, data)
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'not_found') return 'none'
    throw error
  }
}

/**
 * Returns up to `limit` repositories: of an app those that it is installed on, of a token those of its
 * account. Throws ForgeError.
 */
export async function listRepositories(client: GitHubClient, limit: number): Promise<RemoteListing[]> {
  const rows = client.isApp
    ? await listInstalled(client, limit)
    : await allPages({ shape: Repository, limit }, page =>
        client.asSelf(octokit => octokit.request('GET /user/repos', { sort: 'full_name', ...page })),
      )
  return rows.slice(0, limit).map(row => ({
    full_name: row.full_name,
    url: row.clone_url,
    private: row.private,
    default_branch: row.default_branch || null,
    archived: row.archived,
  }))
}

/** Of every installation of the app, one after the other. */
async function listInstalled(client: GitHubClient, limit: number) {
  const installations = await allPages({ shape: Installation }, page =>
    client.asSelf(octokit => octokit.request('GET /app/installations', page)),
  )
  const all: z.output<typeof Repository>[] = []
  for (const { id } of installations) {
    if (all.length >= limit) break
    const wanted = { shape: Repository, list: 'repositories', limit: limit - all.length }
    all.push(
      ...(await allPages(wanted, page =>
        client.installation(id, octokit => octokit.request('GET /installation/repositories', page)),
      )),
    )
  }
  return all
}
