import type { LoopJournal } from '../../../agent/journal.ts'
import type { TokenEstimate } from '../../../agent/token-estimate.ts'
import { chargeOfBroken, countedTokens, type LimitReached, type Reservation } from '../../../core/runs/budget/budget-check.ts'
import type { GatewayEnd, GatewayMeter } from '../../../gateway/meter.ts'
import type { CountedTokens, Model, ModelEndpoint, ModelError, ModelResponse } from '../../../model/port.ts'
import { composed } from '../../../redaction/port.ts'
import type { TurnMeter } from '../turn-limits.ts'

/** Few texts have more tokens than this. */
const BYTES_A_TOKEN = 3

const STOPS = 'The run stops before its next call of the model.'

/** Steps and tokens of the turn so far. */
export type Spending = { steps: number; tokens: number }

/** An estimate for requests of which only the size is known. */
export type SizeEstimate = TokenEstimate & { setBytes(bytes: number): void }

export function createSizeEstimate(): SizeEstimate {
  let tokens = 0
  return {
    of: () => tokens,
    measured: () => tokens,
    counted() {},
    restore() {},
    setBytes(bytes) {
      tokens = Math.ceil(bytes / BYTES_A_TOKEN)
    },
  }
}

type MeteredTurn = {
  model: Model & { endpoint: ModelEndpoint }
  meter: TurnMeter
  journal: LoopJournal
  estimate: SizeEstimate
  spending: Spending
  /** Called when no call is possible any more. */
  onLimit(limit: LimitReached): void
  /** Called with the outcome of each call; null: it succeeded. */
  onCall(failure: ModelError | null): void
  /** Whether the run ends before its next call; it cancels the prompt then. */
  mustStop(): boolean
  onProgress(): void
}

/**
 * Returns the meter of a run's model gateway: each call is a step of the agent, planned within the limits and recorded in the journal like a call of
 * the built-in agent, so that recovery and budgets need not know who called.
 */
export function createGatewayMeter(turn: MeteredTurn): GatewayMeter {
  const { meter, journal, estimate, spending } = turn
  return {
    async start({ bytes, max_output_tokens }) {
      if (turn.mustStop()) return { refused: STOPS }
      estimate.setBytes(bytes)
      const planned = meter.planAside([], spending, max_output_tokens)
      if (planned.kind === 'limit') return refused(turn, planned.limit)
      await journal.modelStarted(planned)
      const unaffordable = await meter.afford(planned.reservation)
      if (unaffordable === null) return { reservation: planned.reservation }
      await journal.modelNotCalled()
      return refused(turn, unaffordable)
    },
    async ended(reservation, end) {
      if (end.kind === 'responded') await responded(turn, end.usage)
      else await failed(turn, reservation, end)
    },
    refusal: () => (turn.mustStop() ? STOPS : null),
    progressed: () => turn.onProgress(),
  }
}

function refused({ onLimit }: MeteredTurn, limit: LimitReached): { refused: string } {
  onLimit(limit)
  return { refused: limit.message }
}

async function responded(turn: MeteredTurn, counted: CountedTokens): Promise<void> {
  const { model, meter, journal, spending } = turn
  const { input_tokens, output_tokens, cached_tokens } = counted
  const usage = { input_tokens, output_tokens, cached_tokens, cost_usd: model.endpoint.cost(counted), raw: null }
  // What it contained is in the updates of the agent.
  const response: ModelResponse = { text: '', reasoning: null, tool_calls: [], finish_reason: 'stop', usage, messages: [] }
  spending.steps++
  spending.tokens += countedTokens(usage)
  meter.modelResponded([], response)
  turn.onCall(null)
  await journal.modelResponded(composed(response), composed({ ends_turn: null, notice: null, next: null }))
}

async function failed(turn: MeteredTurn, reservation: Reservation, end: Extract<GatewayEnd, { kind: 'failed' }>): Promise<void> {
  const { model, meter, journal, spending } = turn
  const { error, may_cost, seen_bytes } = end
  const charge = may_cost ? chargeOfBroken(reservation, model.price, seen_bytes) : null
  if (charge !== null) {
    meter.charged(charge)
    spending.tokens += charge.input_tokens + charge.output_tokens
  }
  turn.onCall(error)
  // Agents repeat such calls themselves.
  await journal.modelFailed({ error, attempt: 1, retry_in_ms: error.retryable ? 0 : null }, charge)
}
