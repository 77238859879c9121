import { authorized } from './call.ts'
import { readEvents, type StreamEvent, type StreamState } from './reconnecting-stream.ts'

export type LiveStream = {
  target: { agent_run_id: number } | 'organization'
  /** Only what comes after this position; needed before the first id was seen. */
  after_seq: number | null
  on_event: (event: StreamEvent) => void
  on_state: (state: StreamState) => void
}

/** A tab that nobody looks at gives its connection back after this long: browsers allow six to an origin. */
const hidden_ms = 30_000

/** Follows a run or the organization while the page is visible, and catches up when it becomes visible again. Call the result to stop. */
export function followLive({ target, after_seq, on_event, on_state }: LiveStream): () => void {
  const stopped = new AbortController()
  const name = target === 'organization' ? 'streamOrganizationEvents' : 'streamAgentRunEvents'
  const params = target === 'organization' ? {} : target
  let seen: string | null = after_seq === null ? null : String(after_seq)
  let reading: AbortController | null = null
  let hiding: ReturnType<typeof setTimeout> | undefined

  const start = () => {
    if (reading) return
    reading = new AbortController()
    const signal = AbortSignal.any([stopped.signal, reading.signal])
    void readEvents({
      signal,
      on_state,
      wait: waitOrWake,
      open: (last_id, signal) => {
        const position = last_id ?? seen
        return authorized(
          name,
          { params, signal },
          { accept: 'text/event-stream', ...(position === null ? {} : { 'last-event-id': position }) },
        )
      },
      on_event: event => {
        if (event.id !== null) seen = event.id
        on_event(event)
      },
    })
  }
  const pause = () => {
    reading?.abort()
    reading = null
  }
  const look = () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(pause, hidden_ms)
    else start()
  }
  document.addEventListener('visibilitychange', look, { signal: stopped.signal })
  start()
  look()
  return () => {
    clearTimeout(hiding)
    stopped.abort()
  }
}

/** Waits `ms`, or less when the machine is online again or the page is looked at again. */
function waitOrWake(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const woken = new AbortController()
    const done = () => {
      clearTimeout(timer)
      woken.abort()
      resolve()
    }
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done, { signal: woken.signal })
    document.addEventListener('visibilitychange', () => !document.hidden && done(), { signal: woken.signal })
    signal.addEventListener('abort', done, { signal: woken.signal })
  })
}
