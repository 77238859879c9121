import type { Db } from '../database.ts'

export type JournalRow = {
  n: number
  turn: number
  epoch: number
  /** Length of the trace once this was written. */
  seq: number
  kind: string
  key: string | null
  body: string
  created_at: Date
}

/** The whole journal of a run in order: enough to rebuild the conversation and to know what was begun and not ended. */
export async function listJournal(db: Db, organization_id: number, run_id: number): Promise<JournalRow[]> {
  const { rows } = await db.query<JournalRow>({
    name: 'list_journal',
    text: 'select n, turn, epoch, seq, kind, key, body, created_at from journal where organization_id = $1 and run_id = $2 order by n',
    values: [organization_id, run_id],
  })
  return rows
}

/** What was written down last of a run that is at work; undefined when nobody works on it. */
export async function lastRecord(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ kind: string; body: string; created_at: Date } | undefined> {
  const { rows } = await db.query<{ kind: string; body: string; created_at: Date }>({
    name: 'last_record',
    text: `select j.kind, j.body, j.created_at from runs r join journal j on j.organization_id = r.organization_id and j.run_id = r.id and j.n = r.journal_count
      where r.organization_id = $1 and r.id = $2 and r.status = 'running'`,
    values: [organization_id, run_id],
  })
  return rows[0]
}

/** The messages that a run was given last, the newest first: bodies of records. */
export async function newestMessages(db: Db, organization_id: number, run_id: number, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ body: string }>({
    name: 'newest_messages',
    text: `select body from journal where organization_id = $1 and run_id = $2 and kind = 'message' order by n desc limit $3`,
    values: [organization_id, run_id, limit],
  })
  return rows.map(({ body }) => body)
}

/** What was written down of a question to the model besides the conversation, in order. */
export async function listAsides(db: Db, organization_id: number, run_id: number, key: string): Promise<{ kind: string; body: string }[]> {
  const { rows } = await db.query<{ kind: string; body: string }>({
    name: 'list_asides',
    text: `select kind, body from journal where organization_id = $1 and run_id = $2 and key = $3 and kind in ('aside_started', 'aside_ended')
      and turn > 0 order by n`,
    values: [organization_id, run_id, key],
  })
  return rows
}

/** What was written down when the workspace of the run was last set up; undefined: it never was. */
export async function lastSetUp(db: Db, organization_id: number, run_id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'last_set_up',
    text: `select body from journal where organization_id = $1 and run_id = $2 and kind = 'set_up' order by n desc limit 1`,
    values: [organization_id, run_id],
  })
  return rows[0]?.body
}

/**
 * What tells what became of steps: the journal without what was said, and without what a fork has taken over from another run (turn 0).
 * Bodies are '' where the rest of the record says it all.
 */
export async function listSteps(db: Db, organization_id: number, run_id: number): Promise<JournalRow[]> {
  const { rows } = await db.query<JournalRow>({
    name: 'list_steps',
    text: `select n, turn, epoch, seq, kind, key, created_at,
        case when kind in ('model_answered', 'model_failed', 'tool_finished', 'recovered') then body else '' end as body
      from journal where organization_id = $1 and run_id = $2 and turn > 0
        and kind not in ('message', 'compacted', 'commit_started', 'push_started', 'set_up', 'checks_judged', 'aside_started', 'aside_ended')
      order by n`,
    values: [organization_id, run_id],
  })
  return rows
}

/**
 * The last outcome of a model call or a tool, or what an owner wrote down after it of the commit that it was to make: only that has a body.
 * Undefined before the first. The same for every owner that asks.
 */
export async function lastOutcome(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ kind: string; body: string; created_at: Date } | undefined> {
  const { rows } = await db.query<{ kind: string; body: string; created_at: Date }>({
    name: 'last_outcome',
    text: `select kind, case when kind = 'commit_started' then body else '' end as body, created_at from journal
      where organization_id = $1 and run_id = $2 and kind in ('model_answered', 'tool_finished', 'commit_started') order by n desc limit 1`,
    values: [organization_id, run_id],
  })
  return rows[0]
}

/** Every push that an owner of this run was about to make, in order, and how long ago. */
export async function listPushes(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ turn: number; body: string; age_ms: number }[]> {
  const { rows } = await db.query<{ turn: number; body: string; age_ms: number }>({
    name: 'list_pushes',
    text: `select turn, body, (extract(epoch from now() - created_at) * 1000)::float8 as age_ms from journal
      where organization_id = $1 and run_id = $2 and kind = 'push_started' order by n`,
    values: [organization_id, run_id],
  })
  return rows
}

/** What came of checks when that was last written down; undefined: it never was. */
export async function findLatestEvaluation(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<{ turn: number; head_sha: string; said: string; because: string | null } | undefined> {
  const { rows } = await db.query<{ turn: number; body: string }>({
    name: 'last_judged',
    text: `select turn, body from journal where organization_id = $1 and run_id = $2 and kind = 'checks_judged' order by n desc limit 1`,
    values: [organization_id, run_id],
  })
  return rows[0] && { turn: rows[0].turn, ...(JSON.parse(rows[0].body) as { head_sha: string; said: string; because: string | null }) }
}
