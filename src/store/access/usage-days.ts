import { allRows, type Db, onlyRow } from '../database.ts'

/** SQL: the current day (UTC), by which usage is counted. */
export const today = `(now() at time zone 'utc')::date`

const added = [
  'runs',
  'completed',
  'completed_with_reason',
  'failed',
  'cancelled',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'cost_usd',
  'active_ms',
  'estimated_calls',
]

/** SQL: the end of every insert into usage_days, which adds a run's usage to that of the same day. */
export const add_to_day = `on conflict (organization_id, day, run_id, model) do update set
  ${added.map(name => `${name} = usage_days.${name} + excluded.${name}`).join(', ')},
  cost_known = usage_days.cost_known and excluded.cost_known`

export type MonthRow = {
  /** The month's first day, `YYYY-MM-DD`. */
  month: string
  runs: number
  /** Cost of everything with a known price; `cost_known` false: some prices are unknown. */
  cost_usd: string
  cost_known: boolean
  runs_per_month: number | null
  budget_usd_per_month: string | null
}

/** Returns what this month (UTC) has used of an organization's limits. */
export function usedThisMonth(db: Db, organization_id: number): Promise<MonthRow> {
  return onlyRow<MonthRow>(db, {
    name: 'used_this_month',
    text: `select to_char(m.first, 'YYYY-MM-DD') as month, coalesce(sum(u.runs), 0)::int as runs,
        coalesce(sum(u.cost_usd), 0) as cost_usd, coalesce(bool_and(u.cost_known), true) as cost_known,
        o.runs_per_month, o.budget_usd_per_month
      from organizations o
      cross join date_trunc('month', now() at time zone 'utc') as m (first)
      left join usage_days u on u.organization_id = o.id and u.day >= m.first::date
      where o.id = $1
      group by o.id, m.first`,
    values: [organization_id],
  })
}

type Group = {
  day: string | null
  repository_id: number | null
  user_id: number | null
  model: string | null
}
export type UsageRow = Group & {
  /** Of the repository or user that it is grouped by. */
  name: string | null
  runs: number
  completed: number
  completed_with_reason: number
  failed: number
  cancelled: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: string
  cost_known: boolean
  active_ms: number
  estimated_calls: number
}
export type ProposedRow = Group & { pull_requests: number; median_seconds: number }

const groups = { day: 'day', repo: 'repository_id', user: 'user_id', model: 'model' } as const
type UsageGrouping = keyof typeof groups
/** Days are `YYYY-MM-DD` (UTC), both included. Absent filters do not narrow. */
type UsageFilter = {
  from: string
  to: string
  repo_id?: number[] | undefined
  user_id?: number[] | undefined
  model?: string[] | undefined
}

const names: Record<keyof Group, string> = {
  day: 'null',
  model: 'null',
  repository_id:
    '(select n.name from repositories n where n.organization_id = $1 and n.id = u.repository_id)',
  user_id: '(select n.full_name from users n where n.id = u.user_id)',
}
const shown: Record<keyof Group, string> = {
  day: "to_char(u.day, 'YYYY-MM-DD')",
  repository_id: 'u.repository_id',
  user_id: 'u.user_id',
  model: 'u.model',
}
const selected = (column: keyof Group | null) =>
  Object.entries(shown).map(([name, sql]) => `${name === column ? sql : 'null'} as ${name}`)
const grouped = (column: keyof Group | null) =>
  column === null ? '' : `group by u.${column} order by u.${column}`
const narrowed = `($4::bigint[] is null or u.repository_id = any($4)) and ($5::bigint[] is null or u.user_id = any($5))
  and ($6::text[] is null or u.model = any($6))`
const filterValues = (organization_id: number, filter: UsageFilter) => [
  ...[organization_id, filter.from, filter.to],
  ...[filter.repo_id ?? null, filter.user_id ?? null, filter.model ?? null],
]

/** Returns the usage of some days: one row per group, sorted by group, or one row for all. */
export function sumUsage(
  db: Db,
  organization_id: number,
  filter: UsageFilter,
  group_by: UsageGrouping | null,
): Promise<UsageRow[]> {
  const column = group_by === null ? null : groups[group_by]
  const sums = added.map(
    name => `coalesce(sum(u.${name}), 0)::${name === 'cost_usd' ? 'numeric' : 'bigint'} as ${name}`,
  )
  return allRows<UsageRow>(db, {
    name: `sum_usage_${group_by ?? 'all'}`,
    text: `select ${[...selected(column), ...sums].join(', ')},
        coalesce(bool_and(u.cost_known), true) as cost_known,
        ${column === null ? 'null' : names[column]} as name
      from usage_days u
      where u.organization_id = $1 and u.day between $2 and $3 and ${narrowed} ${grouped(column)}`,
    values: filterValues(organization_id, filter),
  })
}

/**
 * Returns how many runs created on some days have proposed a pull request, and the median time from the
 * creation of these runs to it. Runs that were deleted are not counted.
 */
export function sumProposed(
  db: Db,
  organization_id: number,
  filter: UsageFilter,
  group_by: UsageGrouping | null,
): Promise<ProposedRow[]> {
  const column = group_by === null ? null : groups[group_by]
  return allRows<ProposedRow>(db, {
    name: `sum_proposed_${group_by ?? 'all'}`,
    text: `select ${selected(column).join(', ')}, count(*) as pull_requests,
        percentile_cont(0.5) within group (order by u.seconds) as median_seconds
      from (
        select r.repository_id, r.user_id, r.model, (r.created_at at time zone 'utc')::date as day,
          extract(epoch from p.proposed_at - r.created_at)::float8 as seconds
        from (
          select run_id, min(created_at) as proposed_at
          from pull_requests
          where organization_id = $1 and created_at >= $2::date::timestamp at time zone 'utc'
          group by run_id
        ) p
        join runs r on r.organization_id = $1 and r.id = p.run_id
      ) u
      where u.day between $2 and $3 and ${narrowed} ${grouped(column)}`,
    values: filterValues(organization_id, filter),
  })
}
