import { type PageRequest, pageNumbers, pageWindow } from '../core/paging.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Db } from '../store/database.ts'
import { getOrganization } from '../store/organizations.ts'
import { getRepository, listRepositories as listRepositoryRows, type RepositoryRow } from '../store/repositories.ts'
import type { Context } from './context.ts'

/** The same answer for a repository that never was and for one of another organization (decisions §6). */
export async function requireRepository(db: Db, organization_id: number, repo_id: number): Promise<RepositoryRow> {
  const row = await getRepository(db, organization_id, repo_id)
  if (!row) throw new ServiceError('not_found', 'Repository not found.')
  return row
}

/** One page of repositories, oldest first. */
export async function listRepositories(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listRepositoryRows(ctx.db, ctx.organization_id, window.skip, window.limit, ctx.actor.repository_ids)
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const items = rows.map(row => ({
    id: row.id,
    name: row.name,
    full_name: row.full_name,
    description: row.description,
    github_id: '',
    organization_id: row.organization_id,
    visibility: row.visibility,
    archived: row.archived,
    setup_status: row.setup_status,
    language: row.language,
    url: row.url,
    default_branch: row.default_branch,
    is_default: row.id === organization?.default_repository_id || total === 1,
    sample: row.sample,
  }))
  return { items, total, ...pageNumbers(total, window) }
}
