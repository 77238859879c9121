import type { LimitReached, Reservation } from '../core/runs/budget-check.ts'
import type { NearLimit } from '../core/runs/near-limits.ts'
import type { ModelAnswer, ModelMessage } from '../model/port.ts'

/** A model call that may be made: what is set aside for it, and what the agent is told before it when limits are near. */
export type PlannedCall = { kind: 'call'; reservation: Reservation; notice: { limits: NearLimit[]; message: ModelMessage } | null }

/** What a run may still take, asked before every model call and told of all that was used. */
export type Meter = {
  /** `turn`: the answers and tokens of this turn so far. */
  plan(messages: ModelMessage[], turn: { steps: number; tokens: number }): PlannedCall | { kind: 'limit'; limit: LimitReached }
  /** Once the reservation is written down: whether the organization can pay it besides what its other runs have set aside. */
  afford(reservation: Reservation): Promise<LimitReached | null>
  answered(messages: ModelMessage[], answer: ModelAnswer): void
  /** A call broke off, and this is counted for it. */
  charged(charge: Reservation): void
}
