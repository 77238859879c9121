import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteListing, type RemotePermission } from '../port.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'

/** Returns what an account may do in a repository; `none` for one that is unknown. Throws ForgeError. */
export async function permissionOf(client: GitHubClient, { owner, name: repo }: ForgeRepository, login: string): Promise<RemotePermission> {
  try {
    const { data } = await client.on({ owner, name: repo }, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', { owner, repo, username: login }),
    )
    const { permission } = data
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'not_found') return 'none'
    throw error
  }
}

/** Returns up to `limit` repositories: of an app those that it is installed on, of a token those of its account. Throws ForgeError. */
export async function listRepositories(client: GitHubClient, limit: number): Promise<RemoteListing[]> {
  const rows = client.isApp
    ? await listInstalled(client, limit)
    : await allPages(page => client.asSelf(octokit => octokit.request('GET /user/repos', { sort: 'full_name', ...page })), limit)
  return rows.slice(0, limit).map(row => ({
    ...{ full_name: row.full_name, url: row.clone_url, private: row.private },
    ...{ default_branch: row.default_branch ?? null, archived: row.archived ?? false },
  }))
}

type Installed = { full_name: string; clone_url: string; html_url: string; private: boolean; default_branch: string; archived: boolean }

/** Of every installation of the app, one after the other. */
async function listInstalled(client: GitHubClient, limit: number) {
  const installations = await allPages(page => client.asSelf(octokit => octokit.request('GET /app/installations', page)))
  const all: Installed[] = []
  for (const { id } of installations) {
    if (all.length >= limit) break
    const rows: Installed[] = await allPages(
      page =>
        client.installation(id, async octokit => {
          const { data, headers } = await octokit.request('GET /installation/repositories', page)
          return { headers, data: data.repositories }
        }),
      limit - all.length,
    )
    all.push(...rows)
  }
  return all
}
