import { z } from 'zod'
import type { Db } from '../database.ts'
import { parseColumn, TextList } from '../json-column.ts'
import { insertRow } from '../statement.ts'

/** Columns with JSON text. */
const columns = {
  ignored_checks: TextList,
  check_retry_counts: z.record(z.string(), z.number()),
  custom_prompts: z.record(z.string(), z.string()),
  high_priority_apps: TextList,
}
/** null: nothing was set. */
type CheckSuiteSettingsRow = { check_retry_count: number | null } & {
  [C in keyof typeof columns]: z.infer<(typeof columns)[C]> | null
}
type StoredRow = { check_retry_count: number | null } & Record<keyof typeof columns, string | null>

const parsed = <Value>(schema: { parse(value: unknown): Value }, text: string | null) =>
  text === null ? null : parseColumn(schema, text)
const parseRow = (row: StoredRow): CheckSuiteSettingsRow => ({
  check_retry_count: row.check_retry_count,
  ignored_checks: parsed(columns.ignored_checks, row.ignored_checks),
  check_retry_counts: parsed(columns.check_retry_counts, row.check_retry_counts),
  custom_prompts: parsed(columns.custom_prompts, row.custom_prompts),
  high_priority_apps: parsed(columns.high_priority_apps, row.high_priority_apps),
})

/** Returns how failed checks of a repository are handled; undefined while nobody has set it. */
export async function getCheckSuiteSettings(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<CheckSuiteSettingsRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_check_suite_settings',
    text: `select check_retry_count, ignored_checks, check_retry_counts, custom_prompts, high_priority_apps
      from check_suite_settings
      where organization_id = $1 and repository_id = $2`,
    values: [organization_id, repository_id],
  })
  return rows[0] && parseRow(rows[0])
}

const kept_or_set = ['check_retry_count', ...Object.keys(columns)]
  .map(name => `${name} = coalesce(excluded.${name}, s.${name})`)
  .join(', ')

/** Changes the settings; null leaves a setting unchanged. */
export async function saveCheckSuiteSettings(
  db: Db,
  organization_id: number,
  repository_id: number,
  change: CheckSuiteSettingsRow,
): Promise<void> {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
  await db.query(
    insertRow(
      'check_suite_settings',
      {
        organization_id,
        repository_id,
        check_retry_count: change.check_retry_count,
        ignored_checks: json(change.ignored_checks),
        check_retry_counts: json(change.check_retry_counts),
        custom_prompts: json(change.custom_prompts),
        high_priority_apps: json(change.high_priority_apps),
      },
      {
        as: 's',
        end: `on conflict (organization_id, repository_id)
          do update set ${kept_or_set}, updated_at = now()`,
      },
    ),
  )
}
