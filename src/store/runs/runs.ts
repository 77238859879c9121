import { limits } from '../../contract/limits.ts'
import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import type { RunBudget } from '../../contract/runs/run-limits.ts'
import type {
  RunPhase,
  RunStatus,
  SourceType,
  StatusReason,
  WaitingReason,
} from '../../contract/runs/runs.ts'
import type { Window } from '../../core/paging.ts'
import type { BudgetColumns } from '../../core/runs/budget/limits.ts'
import type { StatusFilter } from '../../core/wire-profile.ts'
import { today } from '../access/usage-days.ts'
import { type Db, firstRow, only, onlyRow } from '../database.ts'
import { conditionsOf, createdAfter, createdBefore, listPage } from '../list-page.ts'
import { insertSql, statement } from '../statement.ts'
import { budgetColumns } from './run-changes.ts'
import { created } from './run-states.ts'

export type RunRow = BudgetColumns & {
  id: number
  organization_id: number
  user_id: number
  repository_id: number | null
  status: RunStatus
  status_reason: StatusReason | null
  phase: RunPhase | null
  waiting_on: WaitingReason | null
  epoch: number
  owner: string | null
  /** Since when, and why, another worker must continue it; null: it is not recovering. */
  recovering_since: Date | null
  recovery_cause: 'lease_lost' | 'handed_over' | null
  /** How often it has stalled its process in this turn: then its worker claims no other run. */
  stalls: number
  source_type: SourceType
  agent_type: string
  model: string
  /** Null: the default of the model. */
  reasoning_effort: ReasoningEffort | null
  /** Null: the default of the service. */
  review: ReviewMode | null
  /** Tools that its agent may not use. */
  tools_off: string[]
  prompt: string
  title: string
  tags: string[]
  metadata: string | null
  archived: boolean
  banned: boolean
  base_ref: string | null
  base_sha: string | null
  /** Nobody named a base: it starts from the default branch that the remote has at its start. */
  from_default_branch: boolean
  branch: string | null
  /** What the names of its branches begin with; null: the default. */
  branch_prefix: string | null
  /** The last commit of the run, and the last one that it has pushed. */
  head_sha: string | null
  pushed_sha: string | null
  /** How many branches it has abandoned, and the last commit that it had pushed to one of them. */
  abandoned_branches: number
  abandoned_sha: string | null
  /** What a person has approved last: the head of a push, or the digest of a tool call. */
  approved_sha: string | null
  auto_create_pr: boolean
  parent_run_id: number | null
  forked_at_seq: number | null
  workspace: string | null
  workspace_host: string | null
  /** The sandbox that was started last in it, as the driver names it. */
  sandbox: string | null
  result: string
  error_code: string | null
  error_message: string | null
  turn: number
  total_logs: number
  pending_messages: number
  steps: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  estimated_calls: number
  cost_usd: string
  cost_known: boolean
  active_ms: number
  turn_active_ms: number
  created_at: Date
  updated_at: Date
  turn_started_at: Date
  started_at: Date | null
  finished_at: Date | null
  last_progress_at: Date
  deadline_at: Date | null
  traceparent: string | null
  /** The only repositories that its agent may start child runs in; null: all. */
  repository_ids: number[] | null
  runnable_at: Date | null
  stop_requested_at: Date | null
  stop_requested_by: number | null
  pause_requested_at: Date | null
  pause_requested_by: number | null
}

/**
 * A run as it is shown: with its position in the queue, whether it lacks a needed owner, the kind of its last
 * journal record, and the name of its repository.
 */
export type ShownRun = RunRow & {
  queue_position: number | null
  ownerless: boolean
  last_record: string | null
  repository_name: string | null
}

// The position in the order in which the organization's own runs are claimed, including answered ones that
// wait; $1 is the organization, so it is computed once per statement. Counting stops at 1,000: beyond that
// the exact position is useless and would cost a scan of the queue.
export const shown_columns = `r.*, case when r.status = 'queued' then coalesce(array_position(array(select q.id from runs q
  where q.organization_id = $1 and q.runnable_at is not null order by q.recovering_since, q.runnable_at, q.id limit 1000), r.id), 1000) end as queue_position,
  case when r.status = 'queued' then r.recovering_since is not null else coalesce(r.lease_until < now(), false) end as ownerless,
  case when r.status = 'running' then (select j.kind from journal j
    where j.organization_id = r.organization_id and j.run_id = r.id and j.n = r.journal_count) end as last_record,
  (select n.name from repositories n where n.organization_id = r.organization_id and n.id = r.repository_id) as repository_name`

/** The same rule as src/core/runs/waiting-on.ts: a question that was answered waits for a worker. */
export const waits_on = `case when r.status = 'waiting' and r.runnable_at is not null then 'slot' else r.waiting_on end`

const shown_reason = `coalesce(${waits_on}, r.status_reason, '')`

export type NewRun = {
  organization_id: number
  user_id: number
  repository_id: number | null
  source_type: SourceType
  agent_type: string
  model: string
  /** Null: the default of the model. */
  reasoning_effort?: ReasoningEffort | null
  /** Null: the default of the service. */
  review?: ReviewMode | null
  /** Tools that its agent may not use; absent: it may use all. */
  tools_off?: readonly string[]
  prompt: string
  title: string
  tags: string[]
  metadata: string | null
  webhooks: string | null
  base_ref: string | null
  base_sha: string | null
  /** Absent: a base was named. */
  from_default_branch?: boolean
  branch_prefix?: string | null
  auto_create_pr: boolean
  parent_run_id: number | null
  /** The entry of its parent from which it was forked; absent: it is not a fork. */
  forked_at_seq?: number
  /** The only repositories that its agent may start child runs in; absent or null: all. */
  repository_ids?: readonly number[] | null
  budget: RunBudget
  deadline_seconds: number
}

const queuedRow = (run: NewRun) => ({
  organization_id: run.organization_id,
  user_id: run.user_id,
  repository_id: run.repository_id,
  source_type: run.source_type,
  agent_type: run.agent_type,
  model: run.model,
  reasoning_effort: run.reasoning_effort ?? null,
  review: run.review ?? null,
  tools_off: run.tools_off ?? [],
  prompt: run.prompt,
  title: run.title,
  tags: run.tags,
  metadata: run.metadata,
  webhooks: run.webhooks,
  base_ref: run.base_ref,
  base_sha: run.base_sha,
  from_default_branch: run.from_default_branch ?? false,
  branch_prefix: run.branch_prefix ?? null,
  auto_create_pr: run.auto_create_pr,
  parent_run_id: run.parent_run_id,
  forked_at_seq: run.forked_at_seq ?? null,
  repository_ids: run.repository_ids ?? null,
  ...budgetColumns(run.budget),
  ...created(run.deadline_seconds),
})

/** Inserts a queued run that a worker may claim at once. */
export function insertRun(db: Db, run: NewRun): Promise<{ id: number }> {
  return onlyRow<{ id: number }>(
    db,
    statement(
      'insert_run',
      bind => `with run as (
          ${insertSql(bind, 'runs', queuedRow(run), {
            end: 'returning id, organization_id, user_id, repository_id, model',
          })}
        ),
        counted as (
          insert into usage_days (organization_id, day, run_id, model, user_id, repository_id, runs)
          select organization_id, ${today}, id, model, user_id, repository_id, 1
          from run
        )
        select id
        from run`,
    ),
  )
}

/** Returns a run with what its object shows; undefined when the organization has no such run. */
export function getRun(db: Db, organization_id: number, id: number): Promise<ShownRun | undefined> {
  return firstRow<ShownRun>(db, {
    name: 'get_run',
    text: `select ${shown_columns} from runs r where r.organization_id = $1 and r.id = $2`,
    values: [organization_id, id],
  })
}

/** Locks of PostgreSQL, and the statement of each. */
const run_locks = { 'key share': 'hold_run', 'no key update': 'lock_run', update: 'lock_run_to_delete' }
export type RunLock = keyof typeof run_locks

/**
 * Returns a run, locked until the transaction ends: against its deletion (`key share`, as the foreign key of
 * a run that is created from it), against other changes (`no key update`), or against both (`update`). Two
 * transactions that begin with one of the first two and then delete the run wait for each other.
 */
export function lockRun(
  db: Db,
  organization_id: number,
  id: number,
  lock: RunLock = 'no key update',
): Promise<ShownRun | undefined> {
  return firstRow<ShownRun>(db, {
    name: run_locks[lock],
    text: `select ${shown_columns}
      from runs r
      where r.organization_id = $1 and r.id = $2
      for ${lock} of r`,
    values: [organization_id, id],
  })
}

type RunFilter = {
  user_id?: number[] | undefined
  source_type?: SourceType[] | undefined
  /** Matches runs of any of these. */
  status?: StatusFilter[] | undefined
  status_reason?: StatusReason[] | undefined
  model?: string[] | undefined
  repo_id?: number[] | undefined
  tag?: string[] | undefined
  q?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
  /** Null: archived or not. */
  archived?: boolean | null | undefined
  parent_run_id?: number[] | undefined
  /** Only the parent of this run and the runs that have it as their parent. */
  related_to?: number | undefined
  /** Only of these repositories. */
  repository_ids?: readonly number[] | undefined
}

/**
 * Returns one page, newest first. Absent filters do not narrow, except that archived runs are excluded unless
 * requested.
 */
export async function listRuns(
  db: Db,
  organization_id: number,
  filter: RunFilter,
  window: Window,
): Promise<{ rows: ShownRun[]; total: number }> {
  const { add, also, oneOf, value, where, values } = conditionsOf('r.organization_id = $1', organization_id)
  if (filter.archived !== null) add(p => `r.archived = ${p}`, filter.archived ?? false)
  oneOf('r.user_id', 'bigint', filter.user_id)
  oneOf('r.source_type', 'text', filter.source_type)
  const inStatus = ({ statuses, except }: StatusFilter) => {
    const [one, ...more] = statuses
    const status = more.length === 0 && one !== undefined ? `= ${value(one)}` : `= any(${value(statuses)})`
    return `r.status ${status} and ${shown_reason} <> all(${value(except)})`
  }
  const [status, ...others] = filter.status ?? []
  if (status?.except.length === 0 && others.length === 0) oneOf('r.status', 'text', status.statuses)
  // Each status filter has its own exceptions.
  else if (filter.status !== undefined) also(`(${filter.status.map(inStatus).join(' or ')})`)
  oneOf('r.status_reason', 'text', filter.status_reason)
  oneOf('r.model', 'text', filter.model)
  oneOf('r.repository_id', 'bigint', filter.repo_id)
  oneOf('r.repository_id', 'bigint', filter.repository_ids)
  const tagged = (p: string) =>
    `r.id in (select g.run_id from run_tags g where g.organization_id = $1 and g.tag ${p})`
  if (filter.tag?.length === 1) add(p => tagged(`= ${p}`), filter.tag[0])
  else add(p => tagged(`= any(${p})`), filter.tag)
  add(
    p => `t.text like ${p}`,
    filter.q === undefined ? undefined : `%${filter.q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`,
  )
  add(p => createdAfter('r', 'runs', p), filter.created_after)
  add(p => createdBefore('r', 'runs', p), filter.created_before)
  oneOf('r.parent_run_id', 'bigint', filter.parent_run_id)
  const parentOf = (p: string) =>
    `(select c.parent_run_id from runs c where c.organization_id = $1 and c.id = ${p})`
  add(p => `(r.parent_run_id = ${p} or r.id = ${parentOf(p)})`, filter.related_to)
  const from =
    filter.q === undefined
      ? 'runs r'
      : 'runs r join run_texts t on t.organization_id = r.organization_id and t.run_id = r.id'
  const count = filter.q === undefined ? limits.page_count : limits.search_count
  return listPage(
    db,
    { columns: shown_columns, from, where: where(), key: 'r.id', order: 'desc', count },
    values,
    window,
  )
}

/** Returns how many runs of a repository have not ended. */
export async function countLiveRuns(db: Db, organization_id: number, repository_id: number): Promise<number> {
  const { rows } = await db.query<{ live: number }>({
    name: 'count_live_runs',
    text: `select count(*) as live
      from runs
      where organization_id = $1 and repository_id = $2 and status not in ('completed', 'failed', 'cancelled')`,
    values: [organization_id, repository_id],
  })
  return only(rows).live
}
