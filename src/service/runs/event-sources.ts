import type { AgentRun, RunStatus } from '../../contract/runs/runs.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { shownEntry } from '../../core/runs/trace/stored-entry.ts'
import type { Frame } from '../../live/feed.ts'
import type { Db } from '../../store/database.ts'
import { notifyJoined } from '../../store/notify.ts'
import { lastRecord } from '../../store/runs/journal.ts'
import { type EntryRow, listEntriesAfter } from '../../store/runs/log-entries.ts'
import { lastEventSeq, listEventsAfter } from '../../store/runs/organization-events.ts'
import { getRun } from '../../store/runs/runs.ts'
import { runObjects } from './run-object.ts'

const frame = (event: string, data: string, seq?: number) =>
  `${seq === undefined ? '' : `id: ${seq}\n`}event: ${event}\ndata: ${data}\n\n`

/** Statuses in which a worker may have shown something that no entry contains yet. */
const with_worker: ReadonlySet<RunStatus> = new Set(['starting', 'running', 'cancelling'])

/** Words the run object for the readers of a stream (specification.md#wire-profiles). */
export type RunWording = (run: AgentRun) => unknown

/**
 * Returns the trace of a run as a source of frames: `log` entries with their seq as id, and the run itself as
 * `run` without one (specification.md#events); `deleted` is the last frame.
 */
export function runSource(
  db: Db,
  base_url: string,
  organization_id: number,
  run_id: number,
  wording: RunWording,
) {
  let has_worker = false
  let total: number | undefined
  const frameOf = ({ seq, body }: EntryRow): Frame => ({
    seq,
    text: frame('log', shownEntry(body, base_url), seq),
  })
  return {
    frameOf,
    get total() {
      return total
    },
    async after(seq: number, limit: number): Promise<Frame[]> {
      return (await listEntriesAfter(db, organization_id, run_id, seq, limit)).map(frameOf)
    },
    end_frame: frame('deleted', JSON.stringify({ agent_run_id: run_id })),
    async state(): Promise<string | null> {
      const row = await getRun(db, organization_id, run_id)
      has_worker = row !== undefined && with_worker.has(row.status)
      total = row?.total_logs
      const [run] = row ? await runObjects(db, organization_id, [row], base_url) : []
      return run ? frame('run', JSON.stringify(wording(run))) : null
    },
    /** Returns the running tool, for readers that connect while it runs. */
    async current(): Promise<string | null> {
      const last = await lastRecord(db, organization_id, run_id)
      if (last?.kind !== 'tool_started') return null
      const { call } = storedJson<{ call: { id: string; name: string; input: unknown } }>(last.body)
      const data = {
        call_id: call.id,
        tool_name: call.name,
        tool_input: call.input ?? {},
        started_at: last.created_at.toISOString(),
      }
      return frame('tool', JSON.stringify(data))
    },
    async requestBacklog(): Promise<void> {
      if (has_worker) await notifyJoined(db, organization_id, run_id)
    },
  }
}

/**
 * Returns the events of an organization's runs, with the current run in every frame; null when it is deleted.
 */
export function organizationSource(db: Db, base_url: string, organization_id: number, wording: RunWording) {
  return {
    async after(seq: number, limit: number): Promise<Frame[]> {
      const events = await listEventsAfter(db, organization_id, seq, limit)
      const named = events.map(event => ({ ...event, agent_run_id: event.run_id ?? deletedRun(event) }))
      const rows = await Promise.all(
        [...new Set(named.map(event => event.agent_run_id))].map(id => getRun(db, organization_id, id)),
      )
      const runs = await runObjects(
        db,
        organization_id,
        rows.filter(row => row !== undefined),
        base_url,
      )
      return named.map(({ seq, type, agent_run_id }) => {
        const run = runs.find(item => item.id === agent_run_id)
        const data = JSON.stringify({ seq, type, agent_run_id, run: run === undefined ? null : wording(run) })
        return { seq, text: frame('run', data, seq) }
      })
    },
    state: async () => null,
    current: async () => null,
  }
}

const deletedRun = (event: { body: string }) => storedJson<{ agent_run_id: number }>(event.body).agent_run_id

/** Returns the position of a reader that wants only new events of an organization. */
export const eventsSoFar = (db: Db, organization_id: number): Promise<number> =>
  lastEventSeq(db, organization_id)

/**
 * Returns the frame of an ephemeral event: `json` is `{event, data}` as the worker sent it; null for any
 * other text.
 */
export function liveFrame(json: string): string | null {
  const match = /^\{"event":"(tool|output|text|notice|so_far)","data":([\s\S]*)\}$/.exec(json)
  return match?.[1] === undefined || match[2] === undefined ? null : frame(match[1], match[2])
}
