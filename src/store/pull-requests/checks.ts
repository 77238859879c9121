import type { CheckConclusion, CheckSource, CheckStatus } from '../../contract/pull-requests/checks.ts'
import { allRows, changedOne, type Db } from '../database.ts'
import { insertRow, replacing, type Sql } from '../statement.ts'

export type CheckRow = {
  id: number
  repository_id: number
  head_sha: string
  source: CheckSource
  name: string
  app: string | null
  status: CheckStatus
  conclusion: CheckConclusion | null
  url: string | null
  log_excerpt: string | null
  attempt: number
  started_at: Date | null
  completed_at: Date | null
}
const columns =
  'id, repository_id, head_sha, source, name, app, status, conclusion, url, log_excerpt, attempt, started_at, completed_at'

/**
 * Null times are taken from the clock of the database when the status implies that the check has started, or
 * completed.
 */
export type CheckReport = Omit<CheckRow, 'id' | 'repository_id'>

const order = (of: string) => `array_position(array['queued', 'in_progress', 'completed'], ${of}.status)`

/** Returns SQL: the time of a report, now if it has none, where its status is so. */
const timeOf =
  (status: string, condition: string, time: Date | null): Sql =>
  bind =>
    `case when ${bind(status)} ${condition} then coalesce(${bind(time)}::timestamptz, now()) end`

/**
 * Saves the report of a check for a commit. Reports may come twice and in any order: one of an earlier
 * attempt, or of an earlier state of the same attempt, changes nothing except that it adds missing output.
 * Returns false when nothing changed.
 */
export function saveCheck(
  db: Db,
  organization_id: number,
  repository_id: number,
  report: CheckReport,
): Promise<boolean> {
  return changedOne(
    db,
    insertRow(
      'checks',
      {
        organization_id,
        repository_id,
        head_sha: report.head_sha,
        source: report.source,
        name: report.name,
        app: report.app,
        status: report.status,
        conclusion: report.conclusion,
        url: report.url,
        log_excerpt: report.log_excerpt,
        attempt: report.attempt,
        started_at: timeOf(report.status, `<> 'queued'`, report.started_at),
        completed_at: timeOf(report.status, `= 'completed'`, report.completed_at),
      },
      {
        as: 'c',
        select: bind =>
          `from repositories where organization_id = ${bind(organization_id)} and id = ${bind(repository_id)}`,
        end: bind => `on conflict (organization_id, repository_id, head_sha, source, name)
          do update set
            ${replacing('app', 'status', 'conclusion', 'url', 'log_excerpt', 'attempt', 'completed_at')},
            started_at = case
              when c.attempt = excluded.attempt
                then coalesce(${bind(report.started_at)}, c.started_at, excluded.started_at)
              else excluded.started_at
            end
          where c.attempt < excluded.attempt
            or (
              c.attempt = excluded.attempt
              and (
                ${order('c')} < ${order('excluded')}
                or (c.status = excluded.status and c.log_excerpt is null and excluded.log_excerpt is not null)
              )
            )`,
      },
    ),
  )
}

// No run of the commit is left that could complete it.
const given_up = `c.source = 'local' and c.status <> 'completed' and not exists (select from runs r where r.organization_id = c.organization_id
  and r.repository_id = c.repository_id and r.pushed_sha = c.head_sha and r.status not in ('completed', 'failed', 'cancelled'))`

const shown = (names: string) =>
  names
    .replaceAll(/\w+/g, 'c.$&')
    .replace('c.status', `case when ${given_up} then 'completed' else c.status end as status`)
    .replace('c.conclusion', `case when ${given_up} then 'cancelled' else c.conclusion end as conclusion`)
const checksOf = (
  names: string,
) => `select ${shown(names)}, coalesce(s.ignored_checks::jsonb ? c.name, false) as ignored
  from checks c
  left join check_suite_settings s using (organization_id, repository_id)
  where c.organization_id = $1
    and (c.repository_id, c.head_sha) in (select * from unnest($2::bigint[], $3::text[]))
  order by c.head_sha, c.name, c.source`

type Head = { repository_id: number; head_sha: string }
const headValues = (organization_id: number, heads: readonly Head[]) => [
  organization_id,
  heads.map(head => head.repository_id),
  heads.map(head => head.head_sha),
]

/**
 * Returns the checks of commits, by commit and name, with whether the repository ignores them. A check that
 * the service has started counts as cancelled when no run of that commit continues.
 */
export function listChecks(
  db: Db,
  organization_id: number,
  heads: readonly Head[],
): Promise<(CheckRow & { ignored: boolean })[]> {
  const values = headValues(organization_id, heads)
  return allRows<CheckRow & { ignored: boolean }>(db, {
    name: 'list_checks',
    text: checksOf(columns),
    values,
  })
}

type CheckState = Pick<
  CheckRow,
  'repository_id' | 'head_sha' | 'name' | 'source' | 'app' | 'status' | 'conclusion'
> & {
  ignored: boolean
}

/** Returns checks like `listChecks`, without output and times: what a list of runs shows of many commits. */
export function listCheckStates(
  db: Db,
  organization_id: number,
  heads: readonly Head[],
): Promise<CheckState[]> {
  const text = checksOf('repository_id, head_sha, name, source, app, status, conclusion')
  return allRows<CheckState>(db, {
    name: 'list_check_states',
    text,
    values: headValues(organization_id, heads),
  })
}

/**
 * Returns the names of a repository's checks: of its commands, and of checks that were reported for its
 * commits.
 */
export async function listCheckNames(
  db: Db,
  organization_id: number,
  repository_id: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'list_check_names',
    text: `select name
      from checks
      where organization_id = $1 and repository_id = $2
      union select check_command ->> 'name'
      from check_commands, jsonb_array_elements(checks::jsonb) check_command
      where organization_id = $1 and repository_id = $2
      order by name
      limit $3`,
    values: [organization_id, repository_id, limit],
  })
  return rows.map(row => row.name)
}
