import { type Db, only } from '../database.ts'

/** SQL: the current day (UTC), by which usage is counted. */
export const today = `(now() at time zone 'utc')::date`

const added = ['runs', 'completed', 'failed', 'cancelled', 'input_tokens', 'output_tokens', 'cached_tokens', 'cost_usd', 'active_ms']

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
  /** The budget is used up. */
  budget_used_up: boolean
}

/** Returns what this month (UTC) has used of an organization's limits. */
export async function usedThisMonth(db: Db, organization_id: number): Promise<MonthRow> {
  const { rows } = await db.query<MonthRow>({
    name: 'used_this_month',
    text: `select to_char(m.first, 'YYYY-MM-DD') as month, coalesce(sum(u.runs), 0)::int as runs, coalesce(sum(u.cost_usd), 0) as cost_usd,
        coalesce(bool_and(u.cost_known), true) as cost_known, o.runs_per_month, o.budget_usd_per_month,
        coalesce(coalesce(sum(u.cost_usd), 0) >= o.budget_usd_per_month, false) as budget_used_up
      from organizations o cross join date_trunc('month', now() at time zone 'utc') as m (first)
      left join usage_days u on u.organization_id = o.id and u.day >= m.first::date
      where o.id = $1 group by o.id, m.first`,
    values: [organization_id],
  })
  return only(rows)
}

/** Returns the cost of this month (UTC) and what active runs have reserved for their model calls, if the organization has a budget. */
export async function monthWithReserved(
  db: Db,
  organization_id: number,
): Promise<{ cost_usd: string; reserved_usd: string; budget_usd_per_month: string | null }> {
  const { rows } = await db.query<{ cost_usd: string; reserved_usd: string; budget_usd_per_month: string | null }>({
    name: 'month_with_reserved',
    text: `select o.budget_usd_per_month,
        case when o.budget_usd_per_month is null then 0 else (select coalesce(sum(u.cost_usd), 0) from usage_days u
          where u.organization_id = o.id and u.day >= date_trunc('month', now() at time zone 'utc')::date) end as cost_usd,
        case when o.budget_usd_per_month is null then 0 else (select coalesce(sum(r.reserved_usd), 0) from runs r
          where r.organization_id = o.id and r.owner is not null) end as reserved_usd
      from organizations o where o.id = $1`,
    values: [organization_id],
  })
  return only(rows)
}

export type UsageRow = {
  day: string | null
  repository_id: number | null
  user_id: number | null
  model: string | null
  runs: number
  completed: number
  failed: number
  cancelled: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: string
  cost_known: boolean
  active_ms: number
}

const groups = { day: 'day', repo: 'repository_id', user: 'user_id', model: 'model' } as const

/** Returns the usage from one day to another, both included: one row per group, sorted by group, or one row for all. */
export async function sumUsage(
  db: Db,
  organization_id: number,
  from: string,
  to: string,
  group_by: keyof typeof groups | null,
): Promise<UsageRow[]> {
  const column = group_by === null ? null : groups[group_by]
  const shown = { day: "to_char(day, 'YYYY-MM-DD')", repository_id: 'repository_id', user_id: 'user_id', model: 'model' }
  const selected = Object.entries(shown).map(([name, sql]) => `${name === column ? sql : 'null'} as ${name}`)
  const sums = added.map(name => `coalesce(sum(${name}), 0)::${name === 'cost_usd' ? 'numeric' : 'bigint'} as ${name}`)
  const { rows } = await db.query<UsageRow>({
    name: `sum_usage_${group_by ?? 'all'}`,
    text: `select ${[...selected, ...sums].join(', ')}, coalesce(bool_and(cost_known), true) as cost_known
      from usage_days where organization_id = $1 and day between $2 and $3 ${column === null ? '' : `group by ${column} order by ${column}`}`,
    values: [organization_id, from, to],
  })
  return rows
}
