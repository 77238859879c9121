import type { CreateRunInput } from '../../contract/runs/run-inputs.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { getRepository, listRepositories, type RepositoryRow } from '../../store/access/repositories.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from './repositories.ts'

/**
 * Returns the repository of a new run: the named one, otherwise `preferred` (the default of the
 * organization), otherwise the only one; null for a run without one. Throws 400 that names the field, 403,
 * 404, or 409 for an archived repository.
 */
export async function chooseRepository(
  ctx: Context,
  input: CreateRunInput,
  preferred: number | null,
): Promise<RepositoryRow | null> {
  if (input.repoless && input.repo_id != null)
    throw invalid(['body', 'repoless'], 'cannot be true when repo_id names a repository')
  const own = ctx.actor.repository_ids
  if (input.repoless && own !== null)
    throw new ServiceError(
      'forbidden',
      'This token is bound to repositories: it cannot create a run without one.',
    )
  if (input.repoless) return null
  if (input.repo_id != null) {
    return requireOpen(await requireRepository(ctx.db, ctx.organization_id, input.repo_id))
  }
  const chosen = preferred === null || own?.includes(preferred) === false ? null : preferred
  const found = chosen === null ? undefined : await getRepository(ctx.db, ctx.organization_id, chosen)
  if (found?.archived === false) return found
  const { rows, total } = await listRepositories(
    ctx.db,
    ctx.organization_id,
    { skip: 0, limit: 1 },
    { own, archived: false },
  )
  const first = rows[0]
  if (!first)
    throw new ServiceError(
      'not_found',
      'No repos found in the organization. Please add some repos and try again.',
    )
  if (chosen !== null && !found) throw repositoryNotFound()
  if (found) return requireOpen(found)
  if (total > 1)
    throw invalid(
      ['body', 'repo_id'],
      `is required: there are ${total} repositories to choose from and no default`,
    )
  return first
}

function requireOpen(repository: RepositoryRow): RepositoryRow {
  if (repository.archived)
    throw new ServiceError('conflict', `${repository.full_name} is archived: it accepts no new runs.`)
  return repository
}
