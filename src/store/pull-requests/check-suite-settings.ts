import type { Db } from '../database.ts'

/** Lists and objects as JSON text; null: nothing was set. */
type CheckSuiteSettingsRow = {
  check_retry_count: number | null
  ignored_checks: string | null
  check_retry_counts: string | null
  custom_prompts: string | null
  high_priority_apps: string | null
}

/** Returns how failed checks of a repository are handled; undefined while nobody has set it. */
export async function getCheckSuiteSettings(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<CheckSuiteSettingsRow | undefined> {
  const { rows } = await db.query<CheckSuiteSettingsRow>({
    name: 'get_check_suite_settings',
    text: `select check_retry_count, ignored_checks, check_retry_counts, custom_prompts, high_priority_apps
      from check_suite_settings where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0]
}

/** Changes the settings; null leaves a setting unchanged. */
export async function saveCheckSuiteSettings(
  db: Db,
  organization_id: number,
  repository_id: number,
  change: CheckSuiteSettingsRow,
): Promise<void> {
  await db.query({
    name: 'save_check_suite_settings',
    text: `insert into check_suite_settings as s (organization_id, repository_id, check_retry_count, ignored_checks, check_retry_counts, custom_prompts, high_priority_apps)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (organization_id, repository_id) do update set check_retry_count = coalesce(excluded.check_retry_count, s.check_retry_count),
        ignored_checks = coalesce(excluded.ignored_checks, s.ignored_checks), check_retry_counts = coalesce(excluded.check_retry_counts, s.check_retry_counts),
        custom_prompts = coalesce(excluded.custom_prompts, s.custom_prompts), high_priority_apps = coalesce(excluded.high_priority_apps, s.high_priority_apps),
        updated_at = now()`,
    values: [
      organization_id,
      repository_id,
      change.check_retry_count,
      change.ignored_checks,
      change.check_retry_counts,
      change.custom_prompts,
      change.high_priority_apps,
    ],
  })
}
