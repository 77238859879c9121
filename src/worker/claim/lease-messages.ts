import type { HeartbeatResult } from '../../store/leases/leases.ts'

/**
 * Connections of the thread: of the statement about all runs, and of those about one run, which may wait for
 * a locked row.
 */
export const JOINED_CONNECTIONS = 1
export const ALONE_CONNECTIONS = 2
export const LEASE_CONNECTIONS = JOINED_CONNECTIONS + ALONE_CONNECTIONS

/** A claim of a run, as statements name it. */
export type Claim = { organization_id: number; run_id: number; epoch: number }

/**
 * What both threads see of a lease, without a message. `renewed_at`: when the last successful renewal was
 * sent, by `monotonicMs`. `progressed`: 1 when the run made progress since its last heartbeat.
 */
export type SharedLease = { renewed_at: BigInt64Array; progressed: Int32Array }

/** `id`: of the lease, unique in the process. */
export type ToThread =
  | { kind: 'add'; id: number; claim: Claim; shared: SharedLease }
  | { kind: 'renew'; id: number }
  | { kind: 'release'; id: number }

/**
 * `result` null: another worker owns the run. A heartbeat that requests nothing of the run is not reported.
 * `stalled`: the event loop was occupied for this time, with one of these runs if that is known.
 */
export type FromThread =
  | { kind: 'result'; id: number; result: HeartbeatResult | null }
  | { kind: 'released'; id: number }
  | { kind: 'stalled'; seconds: number; run_ids: number[] }

/** `signs`: a number that the event loop of the main thread changes as long as it works. */
export type ThreadData = { connection_string: string; owner: string; signs: Int32Array }

/** Milliseconds of a clock that is the same in all threads. */
export const monotonicMs = (): bigint => process.hrtime.bigint() / 1_000_000n

export function shareLease(progressed: Int32Array): SharedLease {
  const renewed_at = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  renewed_at[0] = monotonicMs()
  return { renewed_at, progressed }
}
