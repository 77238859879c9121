import { ServiceError } from '../core/service-error.ts'
import type { Context } from './context.ts'
import { requireRepository } from './repositories.ts'

/** 404 for a repository that is not in this organization; otherwise 501. */
export async function generateSetupCommands(ctx: Context, repo_id: number): Promise<never> {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  throw new ServiceError('not_available', 'Setup commands cannot be found out in this version.')
}
