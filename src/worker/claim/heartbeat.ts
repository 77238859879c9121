import { LEASE_SECONDS } from '../../core/runs/lease.ts'
import type { Hub } from '../../live/hub.ts'
import { heartbeat } from '../../store/leases/leases.ts'
import { JOINED, WATCHED } from '../../store/notify.ts'
import { deadlineError } from '../deadline.ts'
import type { Control } from './control.ts'
import type { JoinedHeartbeats, SendBeat } from './joined-heartbeats.ts'
import type { LiveChannel } from './live-channel.ts'
import type { RunWriter } from './run-writer.ts'

/** How often active time is recorded, which writes a second row. A worker that is killed leaves at most this much unrecorded. */
const USAGE_MS = 5_000

export type Heartbeat = {
  worked_ms(): number
  /** Ends the run as lost if its lease has expired. Call it before acting on an error: a frozen process may get errors before its next heartbeat. */
  expire(): void
  stop(): Promise<void>
}

type Deps = { hub: Hub; heartbeats: JoinedHeartbeats }

/**
 * Renews the lease while the run works, and learns at once of a stop, a pause, an interruption and the deadline. When no heartbeat succeeds for
 * the duration of the lease, another worker owns the run, and this one ends it as lost.
 */
export function startHeartbeat({ hub, heartbeats }: Deps, writer: RunWriter, live: LiveChannel, control: Control): Heartbeat {
  const { organization_id, run_id, epoch } = writer
  const started = performance.now()
  let counted = started
  let last_success = started
  let beating: Promise<void> | null = null

  const sendHeartbeat = async (send: SendBeat, count_ms = USAGE_MS) => {
    const now = performance.now()
    const worked_ms = now - counted >= count_ms ? now - counted : 0
    // Before the response, which may be lost: time that is counted twice is worse than time that is not counted.
    if (worked_ms > 0) counted = now
    try {
      const row = await send({ organization_id, run_id, epoch, worked_ms, progressed: live.takeProgress() })
      if (!row) return control.end({ kind: 'lost' })
      last_success = now
      if (row.status === 'cancelling') control.end({ kind: 'stop' })
      else if (row.pausing) control.end({ kind: 'paused', reason: 'user_request', message: 'Paused on request.' })
      else if (row.deadline_passed) control.end({ kind: 'failed', reason: 'timeout', ...deadlineError(row.status), phase: 'agent' })
      else if (row.interrupt_requested) control.interruptStep()
    } catch {
      // The next heartbeat retries; `expire` checks whether it is too late.
    }
  }
  const sendAlone: SendBeat = beat => heartbeat(writer.db, beat, LEASE_SECONDS)
  const heartbeatOnce = (send: SendBeat) => {
    beating ??= sendHeartbeat(send).finally(() => {
      beating = null
    })
    return beating
  }
  // A short outage of the database does not end the run. An outage, or a freeze of this process, that lasts longer than the lease does:
  // another worker continues by then, and everything done here would be done twice.
  const expire = () => {
    if (performance.now() - last_success > LEASE_SECONDS * 1_000) control.end({ kind: 'lost' })
  }
  const leave = heartbeats.add(send => {
    expire()
    return heartbeatOnce(send)
  })
  const unsubscribe = hub.onLive(organization_id, run_id, json => {
    if (json === WATCHED || json === JOINED) writer.viewerSeen()
    if (json === JOINED) live.sendSoFar()
    else if (json.startsWith('{"event":"control"')) void heartbeatOnce(sendAlone)
  })
  return {
    worked_ms: () => performance.now() - started,
    expire,
    async stop() {
      leave()
      unsubscribe()
      await beating
      await sendHeartbeat(sendAlone, 0)
    },
  }
}
