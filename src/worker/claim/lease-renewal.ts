import { LEASE_SECONDS } from '../../core/runs/lease.ts'
import type { Db } from '../../store/database.ts'
import { type Beat, type HeartbeatResult, heartbeat, heartbeats } from '../../store/leases/leases.ts'
import { type Claim, monotonicMs, type SharedLease } from './lease-messages.ts'

/**
 * How often active time is recorded, which writes a second row. A worker that is killed leaves at most this
 * much unrecorded.
 */
const USAGE_MS = 5_000

/** `counted_at`: until when active time is counted. `renewing`: its heartbeat under way. */
type HeldClaim = { claim: Claim; shared: SharedLease; counted_at: number; renewing: Promise<void> | null }

/**
 * `joined`: one connection for the statement about all runs, so that it never waits for a heartbeat that
 * waits for a locked row.
 */
type Databases = { joined: Db; alone: Db }

/**
 * Receives the result of a heartbeat; null: another worker owns the run. A heartbeat that failed has none:
 * the next one retries.
 */
type Report = (id: number, result: HeartbeatResult | null) => void

/**
 * Renews the leases of the claimed runs of a process: one statement for all of them, however many there are.
 */
export class LeaseRenewal {
  readonly #held = new Map<number, HeldClaim>()
  readonly #databases: Databases
  readonly #report: Report

  constructor(databases: Databases, report: Report) {
    this.#databases = databases
    this.#report = report
  }

  /** The claims whose leases are renewed. */
  get claims(): Claim[] {
    return [...this.#held.values()].map(({ claim }) => claim)
  }

  add(id: number, claim: Claim, shared: SharedLease): void {
    this.#held.set(id, { claim, shared, counted_at: Number(shared.renewed_at[0]), renewing: null })
  }

  /** Sends a heartbeat of each run whose last one is not under way. */
  renewAll(): void {
    const idle = [...this.#held].filter(([, { renewing }]) => renewing === null)
    if (idle.length === 0) return
    const all = idle.map(([id, held]) => ({ id, held, beat: beatOf(held, USAGE_MS) }))
    const sent = heartbeats(
      this.#databases.joined,
      all.map(({ beat }) => beat),
      LEASE_SECONDS,
    )
    // A claim that was not renewed is lost, or its row is locked at this moment: a heartbeat of its own shows
    // which. When the statement failed, one run must not end the others; it may have been executed anyway, so
    // the time is not counted again.
    for (const [i, { id, held, beat }] of all.entries()) {
      const alone = (worked_ms: number) => this.#renewAlone({ ...beat, worked_ms })
      const result = sent.then(
        results => results[i] ?? alone(beat.worked_ms),
        () => alone(0),
      )
      this.#settle(id, held, result)
    }
  }

  /** Sends a heartbeat of the run alone, unless one is under way: a person has requested something of it. */
  renewNow(id: number): void {
    const held = this.#held.get(id)
    if (held?.renewing === null) this.#settle(id, held, this.#renewAlone(beatOf(held, USAGE_MS)))
  }

  /** Sends the last heartbeat of the run, which counts the rest of its active time. Never rejects. */
  async release(id: number): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return
    this.#held.delete(id)
    await held.renewing
    await this.#settle(id, held, this.#renewAlone(beatOf(held, 0)))
  }

  #renewAlone(beat: Beat): Promise<HeartbeatResult | undefined> {
    return heartbeat(this.#databases.alone, beat, LEASE_SECONDS)
  }

  #settle(id: number, held: HeldClaim, sent: Promise<HeartbeatResult | undefined>): Promise<void> {
    const sent_at = monotonicMs()
    const renewing = sent.then(
      result => {
        if (result !== undefined) Atomics.store(held.shared.renewed_at, 0, sent_at)
        this.#report(id, result ?? null)
      },
      () => {},
    )
    held.renewing = renewing.then(() => {
      held.renewing = null
    })
    return held.renewing
  }
}

/**
 * Time is counted before the response, which may be lost: time that is counted twice is worse than time that
 * is not counted.
 */
function beatOf(held: HeldClaim, min_ms: number): Beat {
  const now = Number(monotonicMs())
  const passed_ms = now - held.counted_at
  const worked_ms = passed_ms >= min_ms ? passed_ms : 0
  if (worked_ms > 0) held.counted_at = now
  return { ...held.claim, worked_ms, progressed: Atomics.exchange(held.shared.progressed, 0, 0) === 1 }
}
