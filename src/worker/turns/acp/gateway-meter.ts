import { randomUUID } from 'node:crypto'
import { createSemaphore, type Semaphore } from '../../../core/concurrency/semaphore.ts'
import { countedTokens, type LimitReached } from '../../../core/runs/budget/limits.ts'
import { chargeOfBroken, type Reservation } from '../../../core/runs/budget/pot.ts'
import type { Redact } from '../../../core/secrets/quote.ts'
import type { GatewayCall, GatewayEnd, GatewayMeter, GatewayRequest } from '../../../gateway/meter.ts'
import { type Model, type ModelEndpoint, ModelError, type ModelResponse } from '../../../model/port.ts'
import type { TurnMeter } from '../turn-limits.ts'
import type { GatewayJournal } from './gateway-journal.ts'

/** Few texts have more tokens than this. */
const BYTES_A_TOKEN = 3

/** The size of a call that fits unless a limit is reached. */
export const NO_CALL = { input_tokens: 0, max_output_tokens: 1 }

const CONNECTION_CLOSED = 'The program has closed the connection.'

/** Steps and tokens of the turn so far. */
export type Spending = { steps: number; tokens: number }

type MeteredTurn = {
  model: Model & { endpoint: ModelEndpoint }
  meter: TurnMeter
  journal: GatewayJournal
  spending: Spending
  /** Called when no further call is possible. */
  onLimit(limit: LimitReached): void
  /** Called with the outcome of each call; null: it succeeded. */
  onCall(failure: ModelError | null, has_tools: boolean): void
  /** Called with the types of tools that calls do not offer. */
  onDropped(types: readonly string[]): Promise<void>
  /** Why no call is possible now; null: one is. It cancels the prompt of a run that stops. */
  refusal(): string | null
  onProgress(): void
  redact: Redact
}

/** `planning`: one call is planned at a time. `ended`: resolves when the next call in flight has ended. */
type MeterState = MeteredTurn & { planning: Semaphore; ended: PromiseWithResolvers<void> }

/**
 * Returns the meter of a run's model gateway: each call is a step of the agent, planned within the limits and
 * recorded in the journal like a call of the built-in agent, so that recovery and budgets need not know who
 * called. Calls in flight count with what is reserved for them.
 */
export function createGatewayMeter(turn: MeteredTurn): GatewayMeter {
  const metering: MeterState = { ...turn, planning: createSemaphore(1), ended: Promise.withResolvers() }
  return {
    async start(request) {
      const release = await metering.planning.enter(request.signal)
      return release === null ? { refused: CONNECTION_CLOSED } : start(metering, request).finally(release)
    },
    async ended(call, end) {
      if (end.kind === 'responded') await responded(metering, call, end)
      else await failed(metering, call, end)
    },
    dropped: types => turn.onDropped(types),
    refused: (error, has_tools) => turn.onCall(error, has_tools),
    refusal: () => turn.refusal(),
    reachedLimit: () => reachedLimit(metering),
    progressed: () => turn.onProgress(),
  }
}

function reachedLimit({ meter, journal, spending, onLimit }: MeterState): string | null {
  if (journal.calls > 0) return null
  const planned = meter.planWithoutNotice(NO_CALL, spending)
  if (planned.kind !== 'limit') return null
  onLimit(planned.limit)
  return planned.limit.message
}

async function start(turn: MeterState, request: GatewayRequest): Promise<GatewayCall | { refused: string }> {
  const { meter, journal, spending } = turn
  const { bytes, max_output_tokens, has_tools, signal } = request
  const wanted = { input_tokens: Math.ceil(bytes / BYTES_A_TOKEN), max_output_tokens }
  for (;;) {
    const refused = turn.refusal()
    if (refused !== null) return { refused }
    if (signal.aborted) return { refused: CONNECTION_CLOSED }
    const [alone, { promise: ended }] = [journal.calls === 0, turn.ended]
    const planned = meter.planWithoutNotice(wanted, spending)
    const call_or_limit =
      planned.kind === 'limit' ? planned.limit : await record(turn, planned.reservation, has_tools)
    if ('key' in call_or_limit) return call_or_limit
    if (alone) {
      turn.onLimit(call_or_limit)
      return { refused: call_or_limit.message }
    }
    // Calls in flight may cost less than what is reserved for them.
    await ended
  }
}

/** Records a planned call, or returns the limit of the organization that does not permit it. */
async function record(
  turn: MeterState,
  reservation: Reservation,
  has_tools: boolean,
): Promise<GatewayCall | LimitReached> {
  const { meter, journal } = turn
  const call = { key: randomUUID(), reservation, has_tools }
  const recorded = journal.started(call)
  countInFlight(turn)
  await recorded
  const unaffordable = await meter.afford(reservation)
  if (unaffordable === null) return call
  const withdrawn = journal.notCalled(call)
  countInFlight(turn)
  await withdrawn
  return unaffordable
}

const countInFlight = ({ meter, journal }: MeterState) =>
  meter.callsInFlight(journal.calls, journal.reserved_usd)

async function responded(
  turn: MeterState,
  call: GatewayCall,
  { usage: counted, reported }: Extract<GatewayEnd, { kind: 'responded' }>,
): Promise<void> {
  const { model, meter, journal, spending } = turn
  const { input_tokens, output_tokens, cached_tokens } = counted
  const usage = {
    input_tokens,
    output_tokens,
    cached_tokens,
    cost_usd: model.endpoint.cost(counted),
    raw: reported ? counted : null,
  }
  const response: ModelResponse = {
    text: '',
    reasoning: null,
    tool_calls: [],
    finish_reason: 'stop',
    usage,
    messages: [],
  }
  spending.steps++
  spending.tokens += countedTokens(usage)
  meter.modelResponded([], response)
  turn.onCall(null, call.has_tools)
  await settle(turn, () => journal.responded(call, usage))
}

async function failed(
  turn: MeterState,
  call: GatewayCall,
  end: Extract<GatewayEnd, { kind: 'failed' }>,
): Promise<void> {
  const { model, meter, journal, spending } = turn
  const { may_cost, seen_bytes } = end
  const error = await shownError(end, turn.redact)
  const charge = may_cost ? chargeOfBroken(call.reservation, model.price, seen_bytes) : null
  if (charge !== null) {
    meter.charged(charge)
    spending.tokens += charge.input_tokens + charge.output_tokens
  }
  turn.onCall(error, call.has_tools)
  const left = error.code === 'aborted' && turn.refusal() !== null
  await settle(turn, () => journal.failed(call, error, { charge, left }))
}

/** Some providers repeat a part of the request. */
async function shownError(
  { error, quote }: Extract<GatewayEnd, { kind: 'failed' }>,
  redact: Redact,
): Promise<ModelError> {
  const text = quote === null ? '' : await quote.shown(redact)
  return text === '' ? error : new ModelError(error.code, text, { http_status: error.http_status })
}

/** Records the outcome of a call, and lets those that wait for it be planned again. */
async function settle(turn: MeterState, write: () => Promise<void>): Promise<void> {
  const written = write()
  countInFlight(turn)
  turn.ended.resolve()
  turn.ended = Promise.withResolvers()
  await written
}
