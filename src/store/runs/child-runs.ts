import { allRows, changedOne, type Db, only } from '../database.ts'
import { type ShownRun, shown_columns } from './runs.ts'

// A run with a parent may have been created by a person, or be a fork: agents started those of this source.
const started = `source_type = 'PARENT_RUN'`
const ended = `('completed', 'failed', 'cancelled')`

/** Returns the runs that the agent of this run has started, oldest first. */
export function listChildRuns(db: Db, organization_id: number, parent_run_id: number): Promise<ShownRun[]> {
  return allRows<ShownRun>(db, {
    name: 'list_child_runs',
    text: `select ${shown_columns}
      from runs r
      where r.organization_id = $1 and r.parent_run_id = $2 and r.${started}
      order by r.id`,
    values: [organization_id, parent_run_id],
  })
}

/**
 * Locks runs, together with the live descendants of those that are neither stopping nor ended, in the order
 * of their ids, until the transaction ends.
 */
export function lockRunsAndLiveBelow(
  db: Db,
  organization_id: number,
  ids: readonly number[],
): Promise<ShownRun[]> {
  return allRows<ShownRun>(db, {
    name: 'lock_runs_and_live_below',
    text: `with recursive line as (
        select id
        from runs
        where organization_id = $1
          and id = any($2::bigint[])
          and status <> 'cancelling'
          and status not in ${ended}
        union select r.id
        from line l
        join runs r on r.organization_id = $1 and r.parent_run_id = l.id and r.${started}
      )
      select ${shown_columns}
      from runs r
      where r.organization_id = $1
        and (r.id = any($2::bigint[]) or r.id in (select id from line) and r.status not in ${ended})
      order by r.id
      for no key update of r`,
    values: [organization_id, ids],
  })
}

/** Returns how many ancestors a run has, each started by the agent of the next. */
export async function generationOf(db: Db, organization_id: number, run_id: number): Promise<number> {
  const { rows } = await db.query<{ generation: number }>({
    name: 'generation_of_run',
    text: `with recursive line as (
        select id, parent_run_id, source_type
        from runs
        where organization_id = $1 and id = $2
        union all select r.id, r.parent_run_id, r.source_type
        from line l
        join runs r on r.organization_id = $1 and r.id = l.parent_run_id
      )
      select count(*) as generation
      from line
      where ${started}`,
    values: [organization_id, run_id],
  })
  return only(rows).generation
}

/**
 * Returns what the children of a run have cost, and what live ones may still cost. The budget of a child
 * covers its own children, so these are counted individually only below a child that has no budget or has
 * ended.
 */
export async function costOfChildRuns(db: Db, organization_id: number, run_id: number): Promise<string> {
  const { rows } = await db.query<{ cost_usd: string }>({
    name: 'cost_of_child_runs',
    text: `with recursive below as (
        select id, status, cost_usd, budget_max_cost_usd
        from runs
        where organization_id = $1 and parent_run_id = $2 and ${started}
        union all select r.id, r.status, r.cost_usd, r.budget_max_cost_usd
        from below b
        join runs r on r.organization_id = $1 and r.parent_run_id = b.id and r.${started}
        where b.status in ${ended} or b.budget_max_cost_usd is null
      )
      select coalesce(
        sum(case when status in ${ended} then cost_usd else greatest(cost_usd, budget_max_cost_usd) end), 0
      ) as cost_usd
      from below`,
    values: [organization_id, run_id],
  })
  return only(rows).cost_usd
}

/** Restricts the repositories in which the agent may start child runs from now on. */
export function setRepositoryBounds(
  db: Db,
  organization_id: number,
  run_id: number,
  repository_ids: readonly number[] | null,
): Promise<boolean> {
  return changedOne(db, {
    name: 'set_repository_bounds',
    text: 'update runs set repository_ids = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, repository_ids],
  })
}
