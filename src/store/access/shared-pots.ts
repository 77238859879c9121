import { type SharedPot, type SharedPotName, shared_pots } from '../../core/runs/budget/pot.ts'
import { allRows, type Db } from '../database.ts'

/**
 * SQL of a pot. `owner`: what has the pot, joined to `run`. `allowed`: null, and it is not read. `spent` and
 * `reserved`: null, and they are 0.
 */
type PotSql = { owner: string; allowed: string; spent: string; reserved: string }

const this_month = `u.day >= date_trunc('month', now() at time zone 'utc')::date`
const organization = 'organizations o on o.id = run.organization_id'

const pot_sql: Record<SharedPotName, PotSql> = {
  budget_usd_per_month: {
    owner: organization,
    allowed: 'o.budget_usd_per_month',
    spent: `select sum(u.cost_usd)
      from usage_days u
      where u.organization_id = o.id and ${this_month}`,
    reserved: `select sum(r.reserved_usd)
      from runs r
      where r.organization_id = o.id and r.owner is not null`,
  },
  runs_per_month: {
    owner: organization,
    allowed: 'o.runs_per_month',
    spent: `select sum(u.runs)
      from usage_days u
      where u.organization_id = o.id and ${this_month}`,
    reserved: 'select 0',
  },
}

const potRow = ([name, { owner, allowed, spent, reserved }]: [string, PotSql]) => `
  select '${name}' as "limit", ${allowed}::numeric as allowed, coalesce((${spent}), 0)::numeric as spent,
    coalesce((${reserved}), 0)::numeric as reserved
  from runs run
  join ${owner}
  where run.organization_id = $1 and run.id = $2 and ${allowed} is not null`

const all = Object.entries(pot_sql)
const spent_by_calls = all.filter(([name]) => shared_pots[name as SharedPotName].spent_by === 'calls')

const statements = {
  shared_pots: all.map(potRow).join(' union all '),
  shared_pots_of_calls: spent_by_calls.map(potRow).join(' union all '),
}

/**
 * Returns the pots with a limit that a run shares with others; only those that its model calls take from, or
 * all.
 */
export function sharedPots(
  db: Db,
  organization_id: number,
  run_id: number,
  which: 'all' | 'of_calls',
): Promise<SharedPot[]> {
  const name = which === 'all' ? 'shared_pots' : 'shared_pots_of_calls'
  return allRows<SharedPot>(db, {
    name,
    text: statements[name],
    values: [organization_id, run_id],
  })
}
