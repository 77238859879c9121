import type { LimitReached } from '../core/runs/budget/limits.ts'
import type { NearLimit } from '../core/runs/budget/near-limits.ts'
import type { Reservation } from '../core/runs/budget/pot.ts'
import type { ModelMessage, ModelResponse } from '../model/port.ts'

/** A permitted model call: its reservation, and the notice to the agent before it when limits are near. */
export type PlannedCall = {
  kind: 'call'
  reservation: Reservation
  notice: { limits: NearLimit[]; message: ModelMessage } | null
}

/** Plans every model call within the limits of a run, and counts what was used. */
export type Meter = {
  /** `turn`: the steps and tokens of this turn so far. */
  plan(
    messages: ModelMessage[],
    turn: { steps: number; tokens: number },
  ): PlannedCall | { kind: 'limit'; limit: LimitReached }
  /** Plans a call of this size, which gets no notice: not a step of the built-in agent. */
  planWithoutNotice(
    call: { input_tokens: number; max_output_tokens: number },
    turn: { steps: number; tokens: number },
  ): PlannedCall | { kind: 'limit'; limit: LimitReached }
  /**
   * Called after the reservation is recorded: whether the organization can pay for it beside the reservations
   * of its other runs.
   */
  afford(reservation: Reservation): Promise<LimitReached | null>
  modelResponded(messages: ModelMessage[], response: ModelResponse): void
  /** A call that is not a step of the agent, or that failed, and its cost. */
  charged(charge: Pick<Reservation, 'cost_usd'>): void
}
