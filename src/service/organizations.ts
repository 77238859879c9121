import { type PageRequest, pageNumbers, pageWindow } from '../core/paging.ts'
import { getOrganization, listOrganizations as listOrganizationRows } from '../store/organizations.ts'
import { listRepositories as listRepositoryRows } from '../store/repositories.ts'
import type { ActorContext, Context } from './context.ts'

/** The organizations that the caller is a member of. */
export async function listOrganizations(ctx: ActorContext, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listOrganizationRows(ctx.db, ctx.actor.user_id, window.skip, window.limit)
  const items = rows.map(({ id, name, enable_pr_creation, enable_rules_detection }) => ({
    id,
    name,
    settings: { enable_pr_creation, enable_rules_detection },
  }))
  return { items, total, ...pageNumbers(total, window) }
}

/** One page of repositories, oldest first. */
export async function listRepositories(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listRepositoryRows(ctx.db, ctx.organization_id, window.skip, window.limit)
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
