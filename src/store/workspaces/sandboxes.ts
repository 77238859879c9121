import { z } from 'zod'
import type { SandboxKind, SandboxState } from '../../contract/repositories/sandboxes.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Window } from '../../core/paging.ts'
import { changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { parseColumn } from '../json-column.ts'
import { conditionsOf, createdAfter, createdBefore, listPage } from '../list-page.ts'
import { insertRow } from '../statement.ts'

const Limits = z.object({
  max_memory_bytes: z.number(),
  cpus: z.number(),
  max_processes: z.number(),
  max_disk_bytes: z.number(),
  max_files: z.number(),
})

export type SandboxRow = {
  id: number
  organization_id: number
  run_id: number
  repository_id: number | null
  kind: SandboxKind
  driver: string
  host: string
  state: SandboxState
  end_reason: 'stopped' | 'start_failed' | 'died' | 'owner_lost' | null
  limits: z.infer<typeof Limits>
  peak_memory_bytes: number | null
  peak_disk_bytes: number | null
  peak_processes: number | null
  cpu_ms: number | null
  memory_kills: number | null
  first_seq: number
  last_seq: number | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}
type StoredRow = Omit<SandboxRow, 'limits'> & { limits: string }
const parseRow = (row: StoredRow): SandboxRow => ({ ...row, limits: parseColumn(Limits, row.limits) })

export type SandboxUse = Pick<
  SandboxRow,
  'peak_memory_bytes' | 'peak_disk_bytes' | 'peak_processes' | 'cpu_ms' | 'memory_kills'
>
type OwnedRun = { organization_id: number; run_id: number; epoch: number }
type Owner = { organization_id: number; id: number; epoch: number }

/**
 * Inserts a sandbox before it is started, under the fence. Returns undefined when another worker owns the
 * run.
 */
export async function insertSandbox(
  db: Db,
  owned: OwnedRun,
  sandbox: Pick<SandboxRow, 'kind' | 'driver' | 'host' | 'limits'>,
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    insertRow(
      'sandboxes',
      {
        organization_id: owned.organization_id,
        run_id: owned.run_id,
        kind: sandbox.kind,
        driver: sandbox.driver,
        host: sandbox.host,
        epoch: owned.epoch,
        state: 'starting',
        limits: JSON.stringify(sandbox.limits),
        first_seq: () => 'total_logs + 1',
      },
      {
        select: bind => `from runs
          where organization_id = ${bind(owned.organization_id)}
            and id = ${bind(owned.run_id)}
            and ${isHeldBy(bind(owned.epoch))}`,
        end: 'returning id',
      },
    ),
  )
  return rows[0]?.id
}

/** SQL: no other worker has claimed the run. Its lease may have ended: a sandbox ends after its run. */
const alive = `from runs r where s.organization_id = $1 and s.id = $2 and s.epoch = $3 and s.ended_at is null
  and r.organization_id = s.organization_id and r.id = s.run_id and r.epoch = s.epoch`
const use_columns = `peak_memory_bytes = $4, peak_disk_bytes = $5, peak_processes = $6, cpu_ms = $7, memory_kills = $8`
const valuesOf = (use: SandboxUse) => [
  use.peak_memory_bytes,
  use.peak_disk_bytes,
  use.peak_processes,
  use.cpu_ms === null ? null : Math.round(use.cpu_ms),
  use.memory_kills,
]

/**
 * Records the resource use of a running sandbox. Returns false when its row has ended, or another worker owns
 * the run.
 */
export function recordSandboxUse(db: Db, owner: Owner, use: SandboxUse): Promise<boolean> {
  return changedOne(db, {
    name: 'record_sandbox_use',
    text: `update sandboxes s
      set state = 'running', started_at = coalesce(s.started_at, now()), ${use_columns} ${alive}`,
    values: [owner.organization_id, owner.id, owner.epoch, ...valuesOf(use)],
  })
}

/**
 * Records the end of a sandbox and its total resource use. Returns false when its row has ended, or another
 * worker owns the run.
 */
export function endSandbox(
  db: Db,
  owner: Owner,
  end: { reason: 'stopped' | 'start_failed' | 'died' },
  use: SandboxUse,
): Promise<boolean> {
  return changedOne(db, {
    name: 'end_sandbox',
    text: `update sandboxes s
      set state = case when $9 = 'died' then 'lost' else 'ended' end, end_reason = $9, ended_at = now(),
        last_seq = r.total_logs, ${use_columns} ${alive}`,
    values: [owner.organization_id, owner.id, owner.epoch, ...valuesOf(use), end.reason],
  })
}

/**
 * Marks sandboxes as lost whose owner is gone without having ended them, of all organizations: they end by
 * themselves, unrecorded.
 */
export async function loseSandboxes(db: Db): Promise<number> {
  const { rowCount } = await db.query({
    name: 'lose_sandboxes',
    text: `update sandboxes s
      set state = 'lost', end_reason = 'owner_lost', ended_at = now(), last_seq = r.total_logs
      from runs r
      where s.ended_at is null
        and r.organization_id = s.organization_id
        and r.id = s.run_id
        and (r.epoch <> s.epoch or r.owner is null)`,
    values: [],
  })
  return rowCount ?? 0
}

// The entry of a check is written when its sandbox is gone.
const last_of_check = `(select min(e.seq) from log_entries e where e.run_id = s.run_id and e.seq >= s.first_seq and e.tool_name = '${actionTool.check}')`
const columns = `s.id, s.organization_id, s.run_id, r.repository_id, s.kind, s.driver, s.host, s.state, s.end_reason, s.limits,
  s.peak_memory_bytes, s.peak_disk_bytes, s.peak_processes, s.cpu_ms, s.memory_kills, s.first_seq,
  case when s.kind = 'check' and s.state = 'ended' then coalesce(${last_of_check}, s.last_seq) else s.last_seq end as last_seq,
  s.created_at, s.started_at, s.ended_at`
const joined = `sandboxes s join runs r on r.organization_id = s.organization_id and r.id = s.run_id`

type SandboxFilter = {
  agent_run_id?: number[] | undefined
  repo_id?: number[] | undefined
  kind?: string[] | undefined
  state?: string[] | undefined
  created_after?: string | undefined
  created_before?: string | undefined
  /** Only of these repositories. */
  repository_ids?: readonly number[] | undefined
}

/** Returns one page, newest first. */
export async function listSandboxes(
  db: Db,
  organization_id: number,
  filter: SandboxFilter,
  window: Window,
): Promise<{ rows: SandboxRow[]; total: number }> {
  const { add, oneOf, where, values } = conditionsOf('s.organization_id = $1', organization_id)
  oneOf('s.run_id', 'bigint', filter.agent_run_id)
  oneOf('r.repository_id', 'bigint', filter.repo_id)
  oneOf('s.kind', 'text', filter.kind)
  oneOf('s.state', 'text', filter.state)
  add(p => createdAfter('s', 'sandboxes', p), filter.created_after)
  add(p => createdBefore('s', 'sandboxes', p), filter.created_before)
  oneOf('r.repository_id', 'bigint', filter.repository_ids)
  const keys_from =
    filter.repo_id === undefined && filter.repository_ids === undefined ? 'sandboxes s' : joined
  const list = { columns, from: joined, keys_from, where: where(), key: 's.id', order: 'desc' } as const
  const page = await listPage<StoredRow>(db, list, values, window)
  return { ...page, rows: page.rows.map(parseRow) }
}

/** Returns the sandbox of a turn of a run, live or ended. */
export async function getSandbox(
  db: Db,
  organization_id: number,
  id: number,
): Promise<SandboxRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_sandbox',
    text: `select ${columns} from ${joined} where s.organization_id = $1 and s.id = $2`,
    values: [organization_id, id],
  })
  return rows[0] && parseRow(rows[0])
}

/** Returns all sandboxes of some runs, oldest first. */
export async function sandboxesOfRuns(
  db: Db,
  organization_id: number,
  run_ids: readonly number[],
): Promise<SandboxRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'sandboxes_of_runs',
    text: `select ${columns}
      from ${joined}
      where s.organization_id = $1 and s.run_id = any($2)
      order by s.id`,
    values: [organization_id, run_ids],
  })
  return rows.map(parseRow)
}
