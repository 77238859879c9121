import type {
  CreateRepositoryInput,
  UpdateRepositoryInput,
} from '../../contract/repositories/repositories.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { deleteEgressOf } from '../../store/access/egress.ts'
import { deleteMcpServersOf } from '../../store/access/mcp-servers.ts'
import {
  forgetDefaultRepository,
  getOrganization,
  setDefaultRepository,
} from '../../store/access/organizations.ts'
import {
  getRepository as getRepositoryRow,
  insertRepository,
  listRepositories as listRepositoryRows,
  lockRepository,
  type RepositoryRow,
  removeRepository,
  setDefaultBranch,
  updateRepository as updateRepositoryRow,
} from '../../store/access/repositories.ts'
import { deleteSecretsOf } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import { deleteCheckCommandsOf } from '../../store/pull-requests/check-commands.ts'
import { countLiveRuns } from '../../store/runs/runs.ts'
import { deleteEnvironments } from '../../store/workspaces/environments.ts'
import { deleteSetupCommandsOf } from '../../store/workspaces/setup-commands.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'

/** A large repository is fetched that long. */
const FIRST_FETCH_MS = 15 * 60_000

/**
 * Returns the same error for a repository that does not exist, was removed or belongs to another organization
 * (specification.md#errors).
 */
export const repositoryNotFound = () => new ServiceError('not_found', 'Repository not found.')

export async function requireRepository(
  db: Db,
  organization_id: number,
  repo_id: number,
): Promise<RepositoryRow> {
  const row = await getRepositoryRow(db, organization_id, repo_id)
  if (!row) throw repositoryNotFound()
  return row
}

const repositoryObject = (row: RepositoryRow, default_id: number | null) => ({
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
  default_branch: row.base_branch ?? row.default_branch,
  reasoning_effort: row.reasoning_effort,
  review: row.review,
  branch_prefix: row.branch_prefix,
  use_mcp_file: row.use_mcp_file,
  is_default: row.id === default_id,
  sample: row.sample,
})

/** Returns the repository for runs that name none: the default, or the only one that accepts runs. */
async function defaultId(db: Db, ctx: Context): Promise<number | null> {
  const preferred = (await getOrganization(db, ctx.organization_id))?.default_repository_id ?? null
  if (preferred !== null) return preferred
  const { rows, total } = await listRepositoryRows(
    db,
    ctx.organization_id,
    { skip: 0, limit: 1 },
    { own: ctx.actor.repository_ids, archived: false },
  )
  return total === 1 ? (rows[0]?.id ?? null) : null
}

/** Returns one page of repositories, oldest first. */
export async function listRepositories(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const own = ctx.actor.repository_ids
  const { rows, total } = await listRepositoryRows(ctx.db, ctx.organization_id, window, { own })
  const default_id = await defaultId(ctx.db, ctx)
  return { items: rows.map(row => repositoryObject(row, default_id)), total, ...pageNumbers(total, window) }
}

/** Throws 404 when it is not in this organization. */
export async function getRepository(ctx: Context, repo_id: number, db: Db = ctx.db) {
  const row = await requireRepository(db, ctx.organization_id, repo_id)
  return repositoryObject(row, await defaultId(db, ctx))
}

/**
 * Registers a repository and starts to fetch it. Throws 400 for an unusable address, 409 for one that is
 * already registered.
 */
export async function createRepository(ctx: Context, input: CreateRepositoryInput) {
  const read = await ctx.readRepositoryUrl(input.url)
  if (!read.ok) throw invalid(['body', 'url'], read.reason)
  const { kind, url, full_name } = read
  const repository = await ctx.db.transaction(async tx => {
    const { id, created } = await insertRepository(tx, {
      organization_id: ctx.organization_id,
      url,
      kind,
      full_name,
      sample: false,
      name: input.name ?? read.name,
      description: input.description || null,
      base_branch: input.default_branch ?? null,
    })
    if (!created)
      throw new ServiceError('conflict', `This address is already registered, as repository ${id}.`)
    await audit(tx, ctx, 'repository.created', { type: 'repository', id }, { url })
    return getRepository(ctx, id, tx)
  })
  recordDefaultBranch(ctx, { id: repository.id, kind, url }).catch(() => {})
  return repository
}

/**
 * Fetches a new repository, which may take long, and records its default branch. The first run does the same
 * when this fails.
 */
async function recordDefaultBranch(
  ctx: Context,
  repository: Parameters<Context['resolveBase']>[0],
): Promise<void> {
  const found = await ctx.resolveBase(repository, null, FIRST_FETCH_MS)
  if (found.state === 'known') await setDefaultBranch(ctx.db, ctx.organization_id, repository.id, found.ref)
}

/**
 * Throws 400 for a branch that is known not to exist, 404 when the repository is not in this organization.
 */
export async function updateRepository(ctx: Context, repo_id: number, input: UpdateRepositoryInput) {
  const row = await requireRepository(ctx.db, ctx.organization_id, repo_id)
  const { default_branch, is_default, ...change } = input
  if (default_branch != null && (await ctx.resolveBase(row, default_branch)).state === 'unknown_ref')
    throw invalid(
      ['body', 'default_branch'],
      `no branch ${JSON.stringify(default_branch)} in ${row.full_name}`,
    )
  return ctx.db.transaction(async tx => {
    const description = change.description === '' ? null : change.description
    const changed = await updateRepositoryRow(tx, ctx.organization_id, repo_id, {
      ...change,
      description,
      base_branch: default_branch,
    })
    if (!changed) throw repositoryNotFound()
    if (is_default === true) await setDefaultRepository(tx, ctx.organization_id, repo_id)
    if (is_default === false) await forgetDefaultRepository(tx, ctx.organization_id, repo_id)
    await audit(tx, ctx, 'repository.updated', { type: 'repository', id: repo_id }, input)
    return getRepository(ctx, repo_id, tx)
  })
}

/**
 * Removes a repository and returns it; its runs and their traces stay. Throws 409 while one of them has not
 * ended.
 */
export async function deleteRepository(ctx: Context, repo_id: number) {
  return ctx.db.transaction(async tx => {
    if (!(await lockRepository(tx, ctx.organization_id, repo_id))) throw repositoryNotFound()
    const live = await countLiveRuns(tx, ctx.organization_id, repo_id)
    if (live > 0)
      throw new ServiceError(
        'conflict',
        `${live} of its runs ${live === 1 ? 'has' : 'have'} not ended: stop them first.`,
      )
    const repository = await getRepository(ctx, repo_id, tx)
    await forgetDefaultRepository(tx, ctx.organization_id, repo_id)
    await deleteSecretsOf(tx, ctx.organization_id, repo_id)
    await deleteMcpServersOf(tx, ctx.organization_id, repo_id)
    await deleteEgressOf(tx, ctx.organization_id, repo_id)
    await deleteCheckCommandsOf(tx, ctx.organization_id, repo_id)
    await deleteSetupCommandsOf(tx, ctx.organization_id, repo_id)
    await deleteEnvironments(tx, ctx.organization_id, repo_id, null)
    await removeRepository(tx, ctx.organization_id, repo_id)
    await audit(tx, ctx, 'repository.deleted', { type: 'repository', id: repo_id }, { url: repository.url })
    return repository
  })
}
