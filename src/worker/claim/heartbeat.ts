import { LEASE_SECONDS } from '../../core/runs/after-lost-worker.ts'
import type { Hub } from '../../live/hub.ts'
import { heartbeat } from '../../store/leases/leases.ts'
import { WATCHED } from '../../store/notify.ts'
import type { Control } from './control.ts'
import type { LiveChannel } from './live-channel.ts'
import type { RunWriter } from './run-writer.ts'

const BEAT_MS = 1_000
/** So often the time worked goes into the ledger of usage, which is a second row to write; a worker that is killed leaves as much uncounted at most. */
const COUNT_MS = 5_000

export type Heartbeat = {
  worked_ms(): number
  /** Ends the run as lost if its lease is over. For whoever is told of something before the next beat: what a frozen process hears first may come of that. */
  expire(): void
  stop(): Promise<void>
}

/**
 * Keeps the lease alive beside whatever the run does, and hears at once of a stop, a pause, an interruption and the deadline.
 * When no beat gets through for as long as the lease lasts, the run is not ours any more and ends itself.
 */
export function startHeartbeat(writer: RunWriter, live: LiveChannel, hub: Hub, control: Control): Heartbeat {
  const started = performance.now()
  let counted = started
  let last_success = started
  let beating: Promise<void> | null = null

  const beat = async (count_ms = COUNT_MS) => {
    const now = performance.now()
    const worked_ms = now - counted >= count_ms ? now - counted : 0
    // Before the answer, which may be lost: what is written twice is worse than what is not written once.
    if (worked_ms > 0) counted = now
    try {
      const answer = await heartbeat(writer.db, writer, LEASE_SECONDS, worked_ms, live.takeProgress())
      if (!answer) return control.end({ kind: 'lost' })
      last_success = now
      if (answer.status === 'cancelling') control.end({ kind: 'stop' })
      else if (answer.pausing) control.end({ kind: 'paused', reason: 'user_request', message: 'Paused as asked.' })
      else if (answer.deadline_passed)
        control.end({
          kind: 'failed',
          reason: 'timeout',
          code: 'deadline_exceeded',
          message: 'The run reached its deadline.',
          phase: 'agent',
        })
      else if (answer.interrupt_requested) control.interruptStep()
    } catch {
      // The next beat tries again; `expire` looks whether it is too late.
    }
  }
  const beatOnce = () => {
    beating ??= beat().finally(() => {
      beating = null
    })
    return beating
  }
  // A database that is away for a moment is no reason to end. One that is away for longer than the lease is, and so is having been
  // frozen for as long: another worker goes on by then, and whatever we would do now is done twice.
  const expire = () => {
    if (performance.now() - last_success > LEASE_SECONDS * 1_000) control.end({ kind: 'lost' })
  }
  const timer = setInterval(() => {
    expire()
    void beatOnce()
  }, BEAT_MS)
  const leave = hub.onLive(writer.organization_id, writer.run_id, json => {
    if (json === WATCHED) writer.viewers.seen()
    else if (json.startsWith('{"event":"control"')) void beatOnce()
  })
  return {
    worked_ms: () => performance.now() - started,
    expire,
    async stop() {
      clearInterval(timer)
      leave()
      await beating
      await beat(0)
    },
  }
}
