import { z } from 'zod'
import { outputStatusSql } from '../../core/runs/trace/stored-entry.ts'
import { allRows, changedOne, type Db, firstRow, rollback, type Transactional } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { parseColumn } from '../json-column.ts'

const LeftOut = z.array(z.object({ path: z.string(), reason: z.enum(['too_large', 'unreadable']) }))

/** The files of a run as they were from one entry of its trace to another, both included. */
export type CheckpointRow = {
  seq: number
  through_seq: number
  /** Packs of the run, counted from the first, that hold its objects. */
  packs: number
  base_sha: string | null
  tree: string
  head: string | null
  branch: string | null
  /** Paths that are missing; null: it is complete. */
  left_out: z.infer<typeof LeftOut> | null
}
type StoredRow = Omit<CheckpointRow, 'left_out'> & { left_out: string | null }
const parseRow = <Row extends StoredRow>(row: Row) => ({
  ...row,
  left_out: row.left_out === null ? null : parseColumn(LeftOut, row.left_out),
})

/** `left_out` as JSON text, which is redacted. */
type NewCheckpoint = Omit<StoredRow, 'packs' | 'base_sha'>
export type NewPack = { tip: string; base_sha: string | null; content: Uint8Array }

/** A checkpoint whose packs are stored, before it has a row. */
export type KeptTree = Omit<StoredRow, 'seq' | 'through_seq'>
/** The files of a run after an outcome: those of an earlier checkpoint, or a new one. */
export type FilesAfter = { unchanged_since: number } | KeptTree

/** Value of `through_seq` when no sandbox works on the files, so that they stay unchanged. */
export const TO_THE_END = 2_147_483_647

/** The last checkpoint of an entry counts. */
export const replace_checkpoint = `on conflict (organization_id, run_id, seq) do update set through_seq = excluded.through_seq,
  packs = excluded.packs, base_sha = excluded.base_sha, tree = excluded.tree, head = excluded.head, branch = excluded.branch,
  left_out = excluded.left_out`

const owned = `run as (select organization_id, id, total_logs from runs
  where organization_id = $1 and id = $2 and ${isHeldBy('$3')} for no key update)`

type OwnedRun = { organization_id: number; run_id: number; epoch: number }

type CheckpointSave = {
  base_sha: string | null
  checkpoints: NewCheckpoint[]
  pack: NewPack | null
  max_bytes: number
}

/**
 * Saves checkpoints together with the pack of their new objects, under the fence. Returns undefined when
 * another worker owns the run. `packs`: how many packs the run has now; null: with this one it would exceed
 * `max_bytes`, and nothing was saved.
 */
export async function saveCheckpoints(
  db: Transactional,
  run: OwnedRun,
  { base_sha, checkpoints, pack, max_bytes }: CheckpointSave,
): Promise<{ packs: number | null } | undefined> {
  return db.transaction(async tx => {
    // Writes the bytes before locking the run: otherwise all its other writes, such as its heartbeat, would
    // wait for them.
    const packs = await insertPack(tx, run, pack, max_bytes)
    const owned = await insertCheckpoints(tx, run, base_sha, packs === null ? [] : checkpoints, packs ?? 0)
    return owned ? { packs } : rollback(undefined)
  })
}

/** Returns the number of packs with this one; null: it is too large for the run. */
async function insertPack(
  db: Db,
  run: OwnedRun,
  pack: NewPack | null,
  max_bytes: number,
): Promise<number | null> {
  const { rows } = await db.query<{ packs: number }>({
    name: 'insert_checkpoint_pack',
    text: `with stored as (
        select coalesce(max(n), 0) as packs,
          coalesce(sum(length(content)) filter (where not inherited), 0) as bytes
        from checkpoint_packs
        where organization_id = $1 and run_id = $2
      ),
      fits as (
        select packs + case when $5::bytea is null then 0 else 1 end as packs
        from stored
        where $5::bytea is null or bytes + length($5) <= $6
      ),
      pack as (
        insert into checkpoint_packs (organization_id, run_id, n, tip, base_sha, sha256, content)
        select $1, $2, packs, $3, $4, sha256($5), $5
        from fits
        where $5::bytea is not null
      )
      select packs
      from fits`,
    values: [
      run.organization_id,
      run.run_id,
      pack?.tip ?? null,
      pack?.base_sha ?? null,
      pack?.content ?? null,
      max_bytes,
    ],
  })
  return rows[0]?.packs ?? null
}

/** Returns false when another worker owns the run. */
async function insertCheckpoints(
  db: Db,
  run: OwnedRun,
  base_sha: string | null,
  checkpoints: NewCheckpoint[],
  packs: number,
): Promise<boolean> {
  const list = <K extends keyof NewCheckpoint>(key: K) => checkpoints.map(item => item[key])
  const { rows } = await db.query({
    name: 'insert_checkpoints',
    text: `with ${owned}, kept as (
        insert into checkpoints (
          organization_id, run_id, seq, through_seq, packs, base_sha, tree, head, branch, left_out
        )
        select run.organization_id, run.id, c.seq, c.through_seq, $4, $5, c.tree, c.head, c.branch, c.left_out
        from run,
          unnest(
            $6::int[], $7::int[], $8::text[], $9::text[], $10::text[], $11::text[]
          ) as c (seq, through_seq, tree, head, branch, left_out) ${replace_checkpoint}
      )
      select 1
      from run`,
    values: [
      ...[run.organization_id, run.run_id, run.epoch, packs, base_sha],
      ...[list('seq'), list('through_seq'), list('tree'), list('head'), list('branch'), list('left_out')],
    ],
  })
  return rows.length === 1
}

/**
 * Records that the files of the checkpoint at `seq` were unchanged until after entry `through_seq`. Returns
 * false when another worker owns the run.
 */
export function extendCheckpoint(db: Db, run: OwnedRun, seq: number, through_seq: number): Promise<boolean> {
  return changedOne(db, {
    name: 'extend_checkpoint',
    text: `with ${owned} update checkpoints c set through_seq = greatest(c.through_seq, $5) from run
      where c.organization_id = run.organization_id and c.run_id = run.id and c.seq = $4`,
    values: [run.organization_id, run.run_id, run.epoch, seq, through_seq],
  })
}

/** Ends the validity of checkpoints with the last entry, because a sandbox is about to work on the files. */
export async function reopenCheckpoints(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
): Promise<void> {
  await db.query({
    name: 'reopen_checkpoints',
    text: `with ${owned} update checkpoints c set through_seq = greatest(c.seq, run.total_logs) from run
      where c.organization_id = run.organization_id and c.run_id = run.id and c.through_seq > greatest(c.seq, run.total_logs)`,
    values: [organization_id, run_id, epoch],
  })
}

/**
 * Returns the last checkpoint up to entry `seq`. `covers`: the files were the same after that entry, because
 * no entry in between is of a tool that may have changed them.
 */
export async function checkpointAt(
  db: Db,
  organization_id: number,
  run_id: number,
  seq: number,
  tools_without_effect: readonly string[],
): Promise<(CheckpointRow & { covers: boolean }) | undefined> {
  const { rows } = await db.query<StoredRow & { covers: boolean }>({
    name: 'checkpoint_at',
    text: `select c.seq, c.through_seq, c.packs, c.base_sha, c.tree, c.head, c.branch, c.left_out,
        not exists (
          select 1
          from log_entries l
          where l.organization_id = c.organization_id
            and l.run_id = c.run_id
            and l.seq > c.through_seq
            and l.seq <= $3
            and l.message_type = 'ACTION'
            and l.tool_name <> all ($4)
        ) as covers
      from checkpoints c
      where c.organization_id = $1 and c.run_id = $2 and c.seq <= $3
      order by c.seq desc
      limit 1`,
    values: [organization_id, run_id, seq, tools_without_effect],
  })
  return rows[0] && parseRow(rows[0])
}

/** An action in the trace. */
export type ActionRef = { seq: number; tool_name: string }

/**
 * Lists the actions from entry `after` to `through` that may have changed files, the newest first, at most
 * `limit`. Of an interrupted one nobody knows whether it did.
 */
export function actionsBetween(
  db: Db,
  [organization_id, run_id]: [number, number],
  {
    after,
    through,
    tools_without_effect,
    limit,
  }: { after: number; through: number; tools_without_effect: readonly string[]; limit: number },
): Promise<ActionRef[]> {
  return allRows<ActionRef>(db, {
    name: 'actions_between',
    text: `select seq, tool_name
      from log_entries
      where organization_id = $1
        and run_id = $2
        and seq > $3
        and seq <= $4
        and message_type = 'ACTION'
        and tool_name <> all ($5)
        and not (failed and coalesce(${outputStatusSql('body')}, '') = 'interrupted')
      order by seq desc
      limit $6`,
    values: [organization_id, run_id, after, through, tools_without_effect, limit],
  })
}

/** Returns the newest checkpoints of a run, newest first. */
export async function listCheckpoints(
  db: Db,
  organization_id: number,
  run_id: number,
  limit: number,
): Promise<CheckpointRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'list_checkpoints',
    text: `select seq, through_seq, packs, base_sha, tree, head, branch, left_out
      from checkpoints
      where organization_id = $1 and run_id = $2
      order by seq desc
      limit $3`,
    values: [organization_id, run_id, limit],
  })
  return rows.map(parseRow)
}

/**
 * Returns how many different states of the files are stored since `since`, with the last one before, and the
 * entry up to which the last one holds; undefined without a stored state.
 */
export function statesSince(
  db: Db,
  [organization_id, run_id]: [number, number],
  since: Date,
): Promise<{ trees: number; through_seq: number } | undefined> {
  return firstRow<{ trees: number; through_seq: number }>(db, {
    name: 'states_since',
    text: `with of_run as (
        select seq, through_seq, tree, created_at >= $3 as is_new
        from checkpoints
        where organization_id = $1 and run_id = $2
      )
      select count(distinct tree)::integer as trees, max(through_seq) as through_seq
      from of_run
      where is_new or seq = (select max(seq) from of_run where not is_new)
      having count(*) > 0`,
    values: [organization_id, run_id, since],
  })
}

/** Returns the last entry after which all files of the run are known; undefined when there is none. */
export async function newestKeptSeq(
  db: Db,
  organization_id: number,
  run_id: number,
  tools_without_effect: readonly string[],
): Promise<number | undefined> {
  const { rows } = await db.query<{ seq: number }>({
    name: 'newest_kept_seq',
    text: `select least(
        (
          select min(l.seq) - 1
          from log_entries l
          where l.organization_id = c.organization_id
            and l.run_id = c.run_id
            and l.seq > c.through_seq
            and l.message_type = 'ACTION'
            and l.tool_name <> all ($3)
        ),
        (
          select min(n.seq) - 1
          from checkpoints n
          where n.organization_id = c.organization_id and n.run_id = c.run_id and n.seq > c.seq
        ), r.total_logs
      ) as seq
      from checkpoints c
      join runs r on r.organization_id = c.organization_id and r.id = c.run_id
      where c.organization_id = $1 and c.run_id = $2 and c.left_out is null
      order by c.seq desc
      limit 1`,
    values: [organization_id, run_id, tools_without_effect],
  })
  return rows[0]?.seq
}
