import { pause } from '../core/pause.ts'
import { stopServer } from './leftover.ts'
import type { Server } from './server.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

type KeptServer = {
  /** Process id of the current or last server. */
  readonly pid: number
  /** Stops it without a restart; safe to call twice. */
  stop(): Promise<void>
}

/**
 * Restarts a server that ends unexpectedly, for example killed for memory or because the disk is full. A
 * failed start is retried with growing delays and without limit, because the cause may go away; `log`
 * receives when it ends, why it cannot start, and when it runs.
 */
export function keepRunning(
  first: Server,
  startAgain: () => Promise<Server>,
  log: (line: string) => void,
): KeptServer {
  const stopping = new AbortController()
  let pid = first.pid
  let running: Server | null = first
  let stopped: Promise<void> | undefined

  async function watch(): Promise<void> {
    for (let server = first; ; ) {
      const reason = await server.ended
      running = null
      if (stopping.signal.aborted) return
      log(`${reason}; it is started again`)
      const next = await untilStarted()
      if (next === null) return
      server = running = next
      pid = next.pid
      log(`PostgreSQL runs again (process ${pid})`)
    }
  }

  /** Returns null when it was stopped meanwhile. */
  async function untilStarted(): Promise<Server | null> {
    let logged = ''
    for (let wait = FIRST_WAIT_MS; !stopping.signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        const server = await startAgain()
        if (!stopping.signal.aborted) return server
        await stopServer(server.pid)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        // With its time and process it would be another one at every try.
        const kind = reason.replace(/\d+/g, '')
        if (kind !== logged) log(`PostgreSQL cannot be started, which is tried again: ${reason}`)
        logged = kind
        await pause(wait, stopping.signal).catch(() => {})
      }
    }
    return null
  }

  const watching = watch()
  async function stop(): Promise<void> {
    stopping.abort()
    // The pid of one that has ended may be somebody else's by now.
    if (running) await stopServer(running.pid)
    await watching
  }
  return {
    get pid() {
      return pid
    },
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
