import type { Connection, ConnectionState } from '../../../src/client/sdk/reconnecting-stream.ts'
import { pause } from '../../../src/core/pause.ts'

/** `ended`: the service refused the stream, and no retry can fix it. */
export type StreamState = ConnectionState | { name: 'ended'; problem: Error }

type Position = { after_seq?: number; signal: AbortSignal }

type LiveStream<Event> = {
  /** Opens the SDK's stream: after `after_seq`, or where the service begins. */
  open: (position: Position, connection: Connection) => AsyncGenerator<Event>
  /** Only events after this position; needed before the first one was seen. */
  after_seq?: number
  on_event: (event: Event) => void
  on_state: (state: StreamState) => void
}

/** A hidden tab closes its connection after this time: browsers allow six for each origin. */
const HIDDEN_TIMEOUT_MS = 30_000

/**
 * Follows a stream while the page is visible, and catches up when it becomes visible again. Call the result
 * to stop.
 */
export function followWhileVisible<Event extends object>({
  open,
  after_seq,
  on_event,
  on_state,
}: LiveStream<Event>): () => void {
  const stopped = new AbortController()
  let seen = after_seq
  let reading: AbortController | null = null
  let hiding: ReturnType<typeof setTimeout> | undefined

  const read = async (signal: AbortSignal) => {
    try {
      for await (const event of open(
        { after_seq: seen, signal },
        { persistent: true, on_state, wait: waitUntilUseful },
      )) {
        if (signal.aborted) return
        if ('seq' in event && typeof event.seq === 'number') seen = event.seq
        on_event(event)
      }
    } catch (error) {
      if (!signal.aborted)
        on_state({ name: 'ended', problem: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  const start = () => {
    if (reading) return
    reading = new AbortController()
    void read(AbortSignal.any([stopped.signal, reading.signal]))
  }
  const suspend = () => {
    reading?.abort()
    reading = null
  }
  const onVisibility = () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(suspend, HIDDEN_TIMEOUT_MS)
    else start()
  }
  document.addEventListener('visibilitychange', onVisibility, { signal: stopped.signal })
  start()
  onVisibility()
  return () => {
    clearTimeout(hiding)
    stopped.abort()
  }
}

/** The longest wait before a reconnection, so that the page follows soon after the service is back. */
const MAX_BACKOFF_MS = 1_000
/** The longest back-off of the SDK. A longer wait was requested by the service. */
const MAX_SDK_BACKOFF_MS = 8_000

/**
 * Waits `ms` or the page's own limit, or less when the machine is online again or the page is visible again.
 */
function waitUntilUseful(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const finished = new AbortController()
  const woken = new Promise<void>(resolve => {
    const options = { signal: finished.signal }
    window.addEventListener('online', () => resolve(), options)
    document.addEventListener('visibilitychange', () => document.hidden || resolve(), options)
  })
  const limit = signal ? AbortSignal.any([signal, finished.signal]) : finished.signal
  return Promise.race([
    pause(ms > MAX_SDK_BACKOFF_MS ? ms : Math.min(ms, MAX_BACKOFF_MS), limit),
    woken,
  ]).finally(() => finished.abort())
}
