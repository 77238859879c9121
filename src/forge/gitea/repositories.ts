import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteListing, type RemotePermission } from '../port.ts'
import type { GiteaClient } from './client.ts'
import { pathOf } from './paths.ts'
import { Permission, Repository } from './shapes.ts'

/** A valid login that is also safe as a part of a path. */
const LOGIN = /^(?!\.+$)[\w.-]{1,100}$/

/**
 * Returns what an account may do in a repository; `none` also for names that no account can have. Throws
 * ForgeError.
 */
export async function permissionOf(
  client: GiteaClient,
  repo: ForgeRepository,
  login: string,
): Promise<RemotePermission> {
  if (!LOGIN.test(login)) return 'none'
  try {
    const { permission } = await client.get(Permission, `${pathOf(repo)}/collaborators/${login}/permission`)
    if (permission === 'owner') return 'admin'
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'not_found') return 'none'
    throw error
  }
}

/**
 * Returns up to `limit` repositories that the account can see. `forge_url`: the address of the server. Throws
 * ForgeError.
 */
export async function listRepositories(
  client: GiteaClient,
  forge_url: string,
  limit: number,
): Promise<RemoteListing[]> {
  const rows = []
  for await (const page of client.pages(Repository, '/user/repos')) {
    rows.push(...page)
    if (rows.length >= limit) break
  }
  return rows.slice(0, limit).map(({ full_name, default_branch, private: hidden, archived }) => ({
    full_name,
    url: `${forge_url}/${full_name}.git`,
    private: hidden,
    default_branch: default_branch || null,
    archived,
  }))
}
