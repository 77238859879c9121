import { ServiceError } from '../../core/service-error.ts'
import {
  deleteEnvironments,
  type EnvironmentRow,
  listEnvironments as listRows,
} from '../../store/workspaces/environments.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { requireRepository } from './repositories.ts'

const environmentObject = ({
  run_id,
  repository_id,
  folder_id,
  made_at,
  last_used_at,
  ...row
}: EnvironmentRow) => ({
  id: row.id,
  repo_id: repository_id,
  key: row.key,
  base_ref: row.base_ref,
  base_sha: row.base_sha,
  digest: row.digest,
  bytes: row.bytes,
  setup_ms: row.setup_ms,
  made_by_run: run_id,
  uses: row.uses,
  machine: folder_id,
  made_at: made_at.toISOString(),
  last_used_at: last_used_at.toISOString(),
})

/**
 * Returns the environments that setup commands prepared for runs of a repository, newest first. Throws 404
 * when it is not in this organization.
 */
export async function listEnvironments(ctx: Context, repo_id: number) {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  return { items: (await listRows(ctx.db, ctx.organization_id, repo_id)).map(environmentObject) }
}

/**
 * Drops environments: no new run uses them, running ones keep theirs. `id` null: all of the repository.
 * Throws 404 for an unknown one.
 */
export async function dropEnvironments(ctx: Context, repo_id: number, id: number | null) {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  return ctx.db.transaction(async tx => {
    const dropped = (await deleteEnvironments(tx, ctx.organization_id, repo_id, id)).length
    if (id !== null && dropped === 0) throw new ServiceError('not_found', 'Environment not found.')
    await audit(
      tx,
      ctx,
      'environments.dropped',
      { type: 'repository', id: repo_id },
      { environment_id: id, dropped },
    )
    return { dropped }
  })
}
