import { LEASE_SECONDS } from '../../core/runs/lease.ts'
import type { Hub } from '../../live/hub.ts'
import type { HeartbeatResult } from '../../store/leases/leases.ts'
import { JOINED, WATCHED } from '../../store/notify.ts'
import { deadlineError } from '../deadline.ts'
import type { Control } from './control.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { LiveChannel } from './live-channel.ts'
import type { RunWriter } from './run-writer.ts'

export type Heartbeat = {
  worked_ms(): number
  /**
   * Ends the run as lost if its lease has expired. Call it before acting on an error: a frozen process may
   * get errors before its next tick.
   */
  expire(): void
  stop(): Promise<void>
}

type Deps = { hub: Hub; leases: Pick<LeaseKeeper, 'add'> }

/**
 * Keeps the lease while the run works, and learns at once of a stop, a pause, an interruption and the
 * deadline. When no heartbeat succeeds for the duration of the lease, another worker owns the run, and this
 * one ends it as lost.
 */
export function startHeartbeat(
  { hub, leases }: Deps,
  writer: RunWriter,
  live: LiveChannel,
  control: Control,
): Heartbeat {
  const { organization_id, run_id, epoch } = writer
  const started = performance.now()
  // A short outage of the database does not end the run. An outage, or a freeze of this process, that lasts
  // longer than the lease does: another worker continues by then, and everything done here would be done
  // twice.
  const expire = () => {
    if (lease.age_ms() > LEASE_SECONDS * 1_000) control.end({ kind: 'lost' })
  }
  const result = (row: HeartbeatResult | null) => {
    if (row === null) control.end({ kind: 'lost' })
    else if (row.status === 'cancelling') control.end({ kind: 'stop' })
    else if (row.pausing)
      control.end({ kind: 'paused', reason: 'user_request', message: 'Paused on request.' })
    else if (row.deadline_passed)
      control.end({ kind: 'failed', reason: 'timeout', ...deadlineError(row.status), phase: 'agent' })
    else if (row.interrupt_requested) control.interruptStep()
  }
  const lease = leases.add({ organization_id, run_id, epoch }, live.progress, { result, tick: expire })
  const unsubscribe = hub.onLive(organization_id, run_id, json => {
    if (json === WATCHED || json === JOINED) writer.viewerSeen()
    if (json === JOINED) live.sendSoFar()
    else if (json.startsWith('{"event":"control"')) lease.renewNow()
  })
  return {
    worked_ms: () => performance.now() - started,
    expire,
    async stop() {
      unsubscribe()
      await lease.release()
    },
  }
}
