import { createParser } from 'eventsource-parser'
import { ProblemError } from './problem.ts'

export type StreamEvent = { id: string | null; event: string; data: unknown }

export type StreamState =
  | { name: 'connecting' }
  | { name: 'live' }
  | { name: 'reconnecting'; attempt: number; problem: string }
  | { name: 'ended'; problem: ProblemError }

export type StreamOptions = {
  /** Opens the stream; `last_id` is the last id seen, for `Last-Event-ID`. Rejects with ProblemError. */
  open: (last_id: string | null, signal: AbortSignal) => Promise<Response>
  on_event: (event: StreamEvent) => void
  on_state: (state: StreamState) => void
  signal: AbortSignal
  /** Resolves after about `ms`, or at once when `signal` fires or there is a reason to try earlier. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** A stream that is silent for longer is given up and resumed; the service sends a heartbeat every 10 s. */
  silence_ms?: number
}

const first_wait_ms = 500
const longest_wait_ms = 15_000

/** Wait before attempt n (from 1): doubling, with up to a quarter of jitter so that tabs do not come back together. */
export const backOff = (attempt: number, random: number) => Math.min(longest_wait_ms, first_wait_ms * 2 ** (attempt - 1)) * (1 + random / 4)

/**
 * Reads server-sent events until `signal` fires: resumes by the last id seen, without gaps or duplicates, however the stream ends.
 * Refusals that no retry can mend (401 after renewal, 403, 404 …) end it with state `ended`.
 */
export async function readEvents(options: StreamOptions): Promise<void> {
  const { signal, on_state } = options
  const position: Position = { last_id: null }
  let attempt = 0
  while (!signal.aborted) {
    if (attempt === 0) on_state({ name: 'connecting' })
    let problem = 'The stream was closed'
    let pause = 0
    try {
      await readOnce(options, position, () => {
        attempt = 0
        on_state({ name: 'live' })
      })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ProblemError && isFinal(error)) return on_state({ name: 'ended', problem: error })
      if (error instanceof ProblemError) pause = error.retry_after_ms ?? 0
      problem = error instanceof Error ? error.message : String(error)
    }
    if (signal.aborted) return
    attempt += 1
    on_state({ name: 'reconnecting', attempt, problem })
    await options.wait(Math.max(pause, backOff(attempt, Math.random())), signal)
  }
}

type Position = { last_id: string | null }

const isFinal = ({ status }: ProblemError) => status >= 400 && status < 500 && status !== 408 && status !== 429

async function readOnce(options: StreamOptions, position: Position, on_live: () => void): Promise<void> {
  const { silence_ms = 25_000 } = options
  const silence = new AbortController()
  const signal = AbortSignal.any([options.signal, silence.signal])
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      if (id !== undefined && position.last_id !== null && Number(id) <= Number(position.last_id)) return
      options.on_event({ id: id ?? null, event: event ?? 'message', data: JSON.parse(data) })
      position.last_id = id ?? position.last_id
    },
  })
  let timer = setTimeout(() => silence.abort(), silence_ms)
  try {
    const response = await options.open(position.last_id, signal)
    if (!response.body) throw new ProblemError(0, 'unreachable', 'The stream has no body')
    on_live()
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), silence_ms)
      parser.feed(decoder.decode(chunk.value, { stream: true }))
    }
  } finally {
    clearTimeout(timer)
  }
}
