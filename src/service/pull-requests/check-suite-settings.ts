import { limits } from '../../contract/limits.ts'
import type { CheckSuiteSettingsInput } from '../../contract/pull-requests/check-suite-settings.ts'
import { checkSettings } from '../../core/pull-requests/check-settings.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import {
  getCheckSuiteSettings as getRow,
  saveCheckSuiteSettings,
} from '../../store/pull-requests/check-suite-settings.ts'
import { listCheckNames } from '../../store/pull-requests/checks.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from '../repositories/repositories.ts'

/**
 * Returns the settings of a repository, with defaults for what was never set. Throws 404 when the repository
 * is not in this organization.
 */
export async function getCheckSuiteSettings(ctx: Context, repo_id: number, db: Db = ctx.db) {
  await requireRepository(db, ctx.organization_id, repo_id)
  const settings = checkSettings(await getRow(db, ctx.organization_id, repo_id))
  return {
    ...settings,
    available_check_suite_names: await listCheckNames(db, ctx.organization_id, repo_id, limits.check_names),
  }
}

/** Changes the given settings, keeps the rest and returns all. */
export async function updateCheckSuiteSettings(
  ctx: Context,
  repo_id: number,
  input: CheckSuiteSettingsInput,
) {
  return ctx.db.transaction(async tx => {
    if (!(await holdRepository(tx, ctx.organization_id, repo_id))) throw repositoryNotFound()
    await saveCheckSuiteSettings(tx, ctx.organization_id, repo_id, {
      check_retry_count: input.check_retry_count ?? null,
      ignored_checks: input.ignored_checks ?? null,
      check_retry_counts: input.check_retry_counts ?? null,
      custom_prompts: input.custom_prompts ?? null,
      high_priority_apps: input.high_priority_apps ?? null,
    })
    await audit(
      tx,
      ctx,
      'repository.checks_updated',
      { type: 'repository', id: repo_id },
      { changed: Object.keys(input) },
    )
    return getCheckSuiteSettings(ctx, repo_id, tx)
  })
}
