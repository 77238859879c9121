import { AgentRunError } from './error.ts'
import type { AgentRun, LogEntry } from './operations.ts'
import { type Connection, streamEvents } from './reconnecting-stream.ts'
import type { Core } from './request.ts'

export type RunEvent =
  /** An entry of the trace: each one once, in order, without a gap. */
  | { type: 'log'; seq: number; entry: LogEntry }
  /** The run after each change, and after each reconnection. */
  | { type: 'run'; run: AgentRun }
  /**
   * Ephemeral events: a tool starts, a piece of its output or of the model's text, a limit is near. Lost
   * while there is no connection; `so_far` then has the end of each output and text that continues, and
   * replaces their pieces.
   */
  | { type: 'tool' | 'output' | 'text' | 'notice' | 'so_far'; data: Record<string, unknown> }

/**
 * What happened to one of the organization's runs, with the current state of the run; null when it was
 * deleted.
 */
export type OrganizationEvent = { seq: number; type: string; agent_run_id: number; run: AgentRun | null }

export type FollowOptions = {
  /** Only entries after this one; 0, the default, is the whole trace. */
  after_seq?: number
  /**
   * When the stream ends: once the run has ended (`end`, the default), once it rests (`rest`, see
   * `isAtRest`), or once this is true.
   */
  until?: 'end' | 'rest' | ((run: AgentRun) => boolean)
  signal?: AbortSignal
}

const people: (AgentRun['waiting_on'] | undefined)[] = ['user_input', 'tool_approval']

/** Returns whether a run waits for a person. One whose question was answered waits for a worker. */
export const waitsForPerson = (run: AgentRun) => people.includes(run.waiting_on)

/**
 * Returns whether a run does nothing more by itself: it has ended, is paused, or waits for a person. One that
 * waits for checks continues by itself.
 */
export function isAtRest(run: AgentRun): boolean {
  return run.terminal || run.status.toLowerCase() === 'paused' || waitsForPerson(run)
}

/**
 * Returns whether a run is completed and did everything that was requested: `status_reason` names what it did
 * not do.
 */
export const hasSucceeded = ({ status, status_reason }: AgentRun) =>
  /^complete/i.test(status) && (status_reason ?? null) === null

const ephemeral = ['tool', 'output', 'text', 'notice', 'so_far']

/**
 * Yields a run's trace as it grows. Reconnects for as long as the caller reads on; see `streamEvents` for how
 * it fails. Rejects with 404 when the run is deleted.
 */
export async function* followRun(
  core: Core,
  agent_run_id: number,
  options: FollowOptions = {},
  connection: Connection = {},
): AsyncGenerator<RunEvent> {
  const { after_seq = 0, until = 'end', signal } = options
  const enough = until === 'end' ? (run: AgentRun) => run.terminal : until === 'rest' ? isAtRest : until
  const open = (after: number | null) =>
    core.request('streamAgentRunEvents', {
      params: { agent_run_id },
      signal,
      headers: { 'last-event-id': String(after ?? 0) },
    })
  for await (const { seq, event, data } of streamEvents({
    open,
    after: after_seq,
    dense: true,
    signal,
    ...connection,
  })) {
    if (event === 'log' && seq !== null) yield { type: 'log', seq, entry: data as LogEntry }
    else if (event === 'run') {
      const run = data as AgentRun
      yield { type: 'run', run }
      if (enough(run)) return
    } else if (event === 'deleted') {
      throw new AgentRunError({ status: 404, code: 'not_found', detail: 'The run was deleted' })
    } else if (ephemeral.includes(event)) yield { type: event, data } as RunEvent
  }
}

/** Yields the events of an organization, from now on or after `after_seq`. Does not end by itself. */
export async function* followOrganization(
  core: Core,
  options: { after_seq?: number | undefined; signal?: AbortSignal } = {},
  connection: Connection = {},
): AsyncGenerator<OrganizationEvent> {
  const { after_seq = null, signal } = options
  const open = (after: number | null) =>
    core.request('streamOrganizationEvents', {
      signal,
      headers: after === null ? {} : { 'last-event-id': String(after) },
    })
  for await (const { seq, data } of streamEvents({
    open,
    after: after_seq,
    dense: false,
    signal,
    ...connection,
  }))
    if (seq !== null) yield data as OrganizationEvent
}
