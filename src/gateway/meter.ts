import type { Reservation } from '../core/runs/budget/pot.ts'
import type { Quote } from '../core/secrets/quote.ts'
import type { CountedTokens, ModelError } from '../model/port.ts'

/**
 * How a call of the gateway ended. `reported`: the provider counted the tokens. `seen_bytes`: of its
 * response. A failed call without `may_cost` was refused, or the provider was not reached. `quote`: what the
 * provider responded instead, which may repeat a part of the request.
 */
export type GatewayEnd =
  | { kind: 'responded'; usage: CountedTokens; reported: boolean }
  | { kind: 'failed'; error: ModelError; quote: Quote | null; may_cost: boolean; seen_bytes: number }

/** A call that may be sent. `key` identifies it in its run; `has_tools`: it offers tools to the model. */
export type GatewayCall = { key: string; reservation: Reservation; has_tools: boolean }

/** `signal` is aborted when the program has closed the connection. */
export type GatewayRequest = {
  bytes: number
  max_output_tokens: number
  has_tools: boolean
  signal: AbortSignal
}

/**
 * Plans and records the calls of a gateway, which may be parallel. `start` resolves when the reservation is
 * durable, or with the reason why no call is possible; a call that does not fit beside those in flight waits
 * for them. `ended` resolves when the outcome is durable. Both reject when the run belongs to another worker;
 * then nothing is sent.
 */
export type GatewayMeter = {
  start(request: GatewayRequest): Promise<GatewayCall | { refused: string }>
  ended(call: GatewayCall, end: GatewayEnd): Promise<void>
  /** The gateway refused a call before it was planned. */
  refused(error: ModelError, has_tools: boolean): void
  /** Tools of these types run at the provider, so calls do not offer them. Resolves when that is durable. */
  dropped(types: readonly string[]): Promise<void>
  /** Why no request of the program is possible now, also of no call; null: one is. */
  refusal(): string | null
  /**
   * The limit that permits no call at all, however small it is; null: there is none, or calls in flight may
   * cost less than what is reserved.
   */
  reachedLimit(): string | null
  /** Data came from the provider. */
  progressed(): void
}
