import { pause } from '../../core/pause.ts'
import { withTimeout } from '../../core/timeout.ts'
import { AgentRunError } from './error.ts'
import { followRun, isAtRest } from './follow.ts'
import type { AgentRun } from './operations.ts'
import type { Core } from './request.ts'

export type WaitOptions = {
  /**
   * Rejects with code `timeout` when the run has not reached the state by then; the run continues. Default:
   * no limit.
   */
  timeout_ms?: number
  signal?: AbortSignal
  /** What is waited for; by default that the run rests, see `isAtRest`. */
  until?: (run: AgentRun) => boolean
}

/** A client that polls sends no more than one request in this time. */
const POLL_MS = 2_000

/**
 * Resolves with the run once `until` accepts it. Follows its events; polls every 2 s where streams are
 * refused or blocked by a proxy.
 */
export async function waitForRun(
  core: Core,
  agent_run_id: number,
  after_seq: number,
  options: WaitOptions = {},
): Promise<AgentRun> {
  const { timeout_ms, until = isAtRest } = options
  const late = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal
  const arrived = byStream(core, agent_run_id, { after_seq, until, signal }).catch(error => {
    if (!(error instanceof AgentRunError) || !refusesStreams(error)) throw error
    return byPolling(core, agent_run_id, until, signal)
  })
  if (timeout_ms === undefined) return arrived
  return withTimeout(arrived, timeout_ms, () => {
    late.abort()
    throw tooLate(agent_run_id, timeout_ms)
  })
}

const tooLate = (agent_run_id: number, timeout_ms: number) =>
  new AgentRunError({
    status: 0,
    code: 'timeout',
    detail: `Run ${agent_run_id} is still active after ${timeout_ms / 1000} s. It continues.`,
  })

/** Also where the run itself cannot be read: then the first poll reports it. */
const refusesStreams = ({ status, code }: AgentRunError) =>
  code === 'stream_blocked' ||
  (code === 'unexpected' && status === 200) ||
  (status >= 400 && status !== 401 && status !== 429)

type WaitCondition = { after_seq: number; until: (run: AgentRun) => boolean; signal: AbortSignal }

async function byStream(core: Core, agent_run_id: number, wanted: WaitCondition): Promise<AgentRun> {
  for await (const event of followRun(core, agent_run_id, wanted))
    if (event.type === 'run' && wanted.until(event.run)) return event.run
  throw new Error('a stream of a run ended without the run')
}

async function byPolling(
  core: Core,
  agent_run_id: number,
  until: WaitCondition['until'],
  signal: AbortSignal,
): Promise<AgentRun> {
  for (;;) {
    const run = await core.call('getAgentRun', { params: { agent_run_id }, signal })
    if (until(run)) return run
    await pause(POLL_MS, signal)
  }
}
