import { z } from 'zod'
import type { CostRow } from '../../core/runs/trace/timeline.ts'
import { allRows, type Db, firstRow } from '../database.ts'
import { parseColumn, TextList } from '../json-column.ts'

/** `failed`: absent in records of earlier versions. */
const Judged = z.object({
  head_sha: z.string(),
  summary: z.string(),
  because: z.string().nullable(),
  failed: z.number().optional(),
})
/**
 * `failed`: the commands that failed in the workspace of the agent; absent: it was prepared by an earlier
 * version, or for others.
 */
const SetUp = z.object({ left_out: TextList, failed: TextList.optional() })
/** Of an agent of another vendor the content is a text. */
const ToolFinished = z.object({
  message: z.object({ content: z.union([z.string(), z.array(z.object({ output: z.unknown() }))]) }),
})
const Push = z.object({ branch: z.string(), sha: z.string() })
export type Evaluation = { turn: number } & z.infer<typeof Judged>

export type JournalRow = {
  n: number
  turn: number
  epoch: number
  /** Length of the trace when this was written. */
  seq: number
  kind: string
  key: string | null
  body: string
  created_at: Date
}

/**
 * Returns the whole journal of a run in order: enough to rebuild the conversation and to find steps that
 * started but did not end.
 */
export function listJournal(db: Db, organization_id: number, run_id: number): Promise<JournalRow[]> {
  return allRows<JournalRow>(db, {
    name: 'list_journal',
    text: `select n, turn, epoch, seq, kind, key, body, created_at
      from journal
      where organization_id = $1 and run_id = $2
      order by n`,
    values: [organization_id, run_id],
  })
}

/** Returns the last record of a running run; undefined when it is not running. */
export function lastRecord(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ kind: string; body: string; created_at: Date } | undefined> {
  return firstRow<{ kind: string; body: string; created_at: Date }>(db, {
    name: 'last_record',
    text: `select j.kind, j.body, j.created_at
      from runs r
      join journal j on j.organization_id = r.organization_id and j.run_id = r.id and j.n = r.journal_count
      where r.organization_id = $1 and r.id = $2 and r.status = 'running'`,
    values: [organization_id, run_id],
  })
}

/** Returns the newest messages of a run, the newest first: bodies of records. */
export async function newestMessages(
  db: Db,
  organization_id: number,
  run_id: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'newest_messages',
    text: `select body
      from journal
      where organization_id = $1 and run_id = $2 and kind = 'message'
      order by n desc
      limit $3`,
    values: [organization_id, run_id, limit],
  })
  return rows.map(({ body }) => body)
}

/**
 * Returns what the model was given of the tool call whose last entry is `seq`; empty when the entry is of
 * something else.
 */
export async function toolOutputsAt(
  db: Db,
  organization_id: number,
  run_id: number,
  seq: number,
): Promise<unknown[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'tool_outputs_at',
    text: `select body
      from journal
      where organization_id = $1 and run_id = $2 and seq = $3 and kind = 'tool_finished'
      order by n
      limit 1`,
    values: [organization_id, run_id, seq],
  })
  return rows.flatMap(({ body }) => {
    const { content } = parseColumn(ToolFinished, body).message
    return typeof content === 'string' ? [] : content.map(({ output }) => output)
  })
}

type AsideRow = { kind: string; body: string; created_at: Date }

/** Returns the records of a side question to the model, in order. */
export function listAsides(
  db: Db,
  organization_id: number,
  run_id: number,
  key: string,
): Promise<AsideRow[]> {
  return allRows<AsideRow>(db, {
    name: 'list_asides',
    text: `select kind, body, created_at
      from journal
      where organization_id = $1
        and run_id = $2
        and key = $3
        and kind in ('aside_started', 'aside_ended')
        and turn > 0
      order by n`,
    values: [organization_id, run_id, key],
  })
}

/**
 * Returns the range of entries of two calls and what lies between, by `seq`; undefined: the run copied these
 * calls from another one.
 */
export function entriesOfCalls(
  db: Db,
  organization_id: number,
  run_id: number,
  first_call: string,
  last_call: string,
): Promise<{ from_seq: number; through_seq: number } | undefined> {
  return firstRow<{ from_seq: number; through_seq: number }>(db, {
    name: 'entries_of_calls',
    text: `select from_seq, through_seq
      from (
        select coalesce(min(seq) filter (where key = $3 and kind = 'tool_started') + 1, 1) as from_seq,
          max(seq) filter (where key = $4 and kind = 'tool_finished') as through_seq
        from journal
        where organization_id = $1 and run_id = $2 and turn > 0 and key in ($3, $4)
      ) range
      where from_seq <= through_seq`,
    values: [organization_id, run_id, first_call, last_call],
  })
}

/** Returns the paths that the last setup of the run's workspace left out; undefined: there was none. */
export async function lastSetUp(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<string[] | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'last_set_up',
    text: `select body
      from journal
      where organization_id = $1 and run_id = $2 and kind = 'set_up'
      order by n desc
      limit 1`,
    values: [organization_id, run_id],
  })
  return rows[0] && parseColumn(SetUp, rows[0].body).left_out
}

/** Returns the setup commands that failed when the workspace of the agent was last prepared. */
export async function listFailedSetUp(db: Db, organization_id: number, run_id: number): Promise<string[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'list_set_ups',
    text: `select body
      from journal
      where organization_id = $1 and run_id = $2 and kind = 'set_up'
      order by n desc`,
    values: [organization_id, run_id],
  })
  return rows.map(({ body }) => parseColumn(SetUp, body).failed).find(failed => failed !== undefined) ?? []
}

/**
 * Returns the records that show the outcome of steps: the journal without messages, and without what a fork
 * copied from another run (turn 0). Bodies are '' where the other columns are sufficient.
 */
export function listSteps(db: Db, organization_id: number, run_id: number): Promise<JournalRow[]> {
  return allRows<JournalRow>(db, {
    name: 'list_steps',
    text: `select n, turn, epoch, seq, kind, key, created_at,
        case when kind in (
          'model_answered', 'model_failed', 'tool_finished', 'recovered'
        ) then body else '' end as body
      from journal
      where organization_id = $1
        and run_id = $2
        and turn > 0
        and kind not in (
          'message', 'commit_started', 'push_started', 'set_up', 'checks_judged', 'aside_started',
          'aside_ended', 'prompt_started'
        )
      order by n`,
    values: [organization_id, run_id],
  })
}

/**
 * Returns the last outcome of a model call or a tool, or a later record of the commit that an owner was about
 * to create: only that has a body. Undefined before the first. It is the same for every owner.
 */
export function lastOutcome(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ kind: string; body: string; created_at: Date } | undefined> {
  return firstRow<{ kind: string; body: string; created_at: Date }>(db, {
    name: 'last_outcome',
    text: `select kind, case when kind = 'commit_started' then body else '' end as body, created_at
      from journal
      where organization_id = $1
        and run_id = $2
        and kind in ('model_answered', 'tool_finished', 'commit_started')
      order by n desc
      limit 1`,
    values: [organization_id, run_id],
  })
}

/** Returns every push that an owner of this run was about to make, in order, with its age. */
export async function listPushes(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ turn: number; branch: string; sha: string; age_ms: number }[]> {
  const { rows } = await db.query<{ turn: number; body: string; age_ms: number }>({
    name: 'list_pushes',
    text: `select turn, body, (extract(epoch from now() - created_at) * 1000)::float8 as age_ms
      from journal
      where organization_id = $1 and run_id = $2 and kind = 'push_started'
      order by n`,
    values: [organization_id, run_id],
  })
  return rows.map(({ turn, body, age_ms }) => ({ turn, age_ms, ...parseColumn(Push, body) }))
}

/** Returns the latest recorded evaluation of checks; undefined: there is none. */
export async function findLatestEvaluation(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<Evaluation | undefined> {
  const { rows } = await db.query<{ turn: number; body: string }>({
    name: 'find_latest_evaluation',
    text: `select turn, body
      from journal
      where organization_id = $1 and run_id = $2 and kind = 'checks_judged'
      order by n desc
      limit 1`,
    values: [organization_id, run_id],
  })
  return rows[0] && { turn: rows[0].turn, ...parseColumn(Judged, rows[0].body) }
}

/** Sums the cost of the model calls before the entries of each part. */
export function sumCosts(
  db: Db,
  organization_id: number,
  run_id: number,
  starts: number[],
): Promise<CostRow[]> {
  return allRows<CostRow>(db, {
    name: 'sum_costs',
    text: `select width_bucket(seq + 1, $3::int[]) as part, turn, min(seq) + 1 as seq,
        sum(cost_usd)::text as cost_usd
      from journal
      where organization_id = $1 and run_id = $2 and cost_usd > 0
      group by part, turn
      order by seq`,
    values: [organization_id, run_id, starts],
  })
}
