import { LEASE_SECONDS } from '../../core/runs/lease.ts'
import type { Db } from '../../store/database.ts'
import { type Beat, type HeartbeatResult, heartbeat, heartbeats } from '../../store/leases/leases.ts'

const HEARTBEAT_MS = 1_000

export type SendBeat = (beat: Beat) => Promise<HeartbeatResult | undefined>
/** Sends a heartbeat of a run by `send`, which it calls at once, unless its last one is still under way. Never rejects. */
type BeatRun = (send: SendBeat) => Promise<void>

/** Sends the heartbeats of all claimed runs of a process: each second one statement, however many runs there are. */
export type JoinedHeartbeats = {
  /** From now on the run has a heartbeat each second, until the returned function is called. */
  add(run: BeatRun): () => void
}

export function joinHeartbeats(db: Db): JoinedHeartbeats {
  const runs = new Set<BeatRun>()
  let timer: NodeJS.Timeout | undefined
  const beatAll = () => {
    const waiting: { beat: Beat; resolve: (result: Promise<HeartbeatResult | undefined>) => void }[] = []
    const join: SendBeat = beat => new Promise(resolve => waiting.push({ beat, resolve }))
    for (const run of runs) void run(join)
    if (waiting.length === 0) return
    const sent = heartbeats(
      db,
      waiting.map(({ beat }) => beat),
      LEASE_SECONDS,
    )
    // A claim that was not renewed is lost, or its row is locked at this moment: a heartbeat of its own shows which. When the statement failed, one run
    // must not end the others; it may have been executed all the same, so the time is not counted again.
    for (const [i, { beat, resolve }] of waiting.entries()) {
      const alone = (worked_ms: number) => heartbeat(db, { ...beat, worked_ms }, LEASE_SECONDS)
      resolve(
        sent.then(
          results => results[i] ?? alone(beat.worked_ms),
          () => alone(0),
        ),
      )
    }
  }
  return {
    add(run) {
      runs.add(run)
      timer ??= setInterval(beatAll, HEARTBEAT_MS)
      return () => {
        runs.delete(run)
        if (runs.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
