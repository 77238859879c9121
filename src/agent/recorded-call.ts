import type { LimitReached } from '../core/runs/budget/limits.ts'
import { type Failure, outcomeOfLimit, type TurnOutcome } from '../core/runs/outcome.ts'
import {
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ToolCall,
} from '../model/port.ts'
import { type BackgroundRedactor, composed, type Redacted } from '../redaction/port.ts'
import { type Attempt, callWithRetries } from './call-with-retries.ts'
import type { LoopInput, LoopState } from './loop-state.ts'
import type { PlannedCall } from './meter.ts'

/** The redacted response, and its tool calls as the model requested them. */
export type CallResponse = { response: Redacted<ModelResponse>; requested: ToolCall[] }

/** A call of the model that the journal has. */
export type RecordedCall = Pick<PlannedCall, 'reservation'> &
  Pick<ModelRequest, 'messages' | 'signal' | 'on_delta'>

/**
 * Calls the model with retries. `record` plans each attempt and records it, or returns the limit that forbids
 * it. Rejects with a ModelError.
 */
export async function callRecorded(
  input: LoopInput,
  state: LoopState,
  record: () => Promise<RecordedCall | LimitReached>,
): Promise<CallResponse | TurnOutcome> {
  const { journal, meter } = input
  const start = async () => {
    const recorded = await record()
    return 'kind' in recorded ? recorded : attemptOf(input, state, recorded)
  }
  const first = await start()
  if ('kind' in first) return outcomeOfLimit(first)
  const calling = callWithRetries(input.model, first, input.retry, {
    async failed(failed, charge) {
      if (charge !== null) {
        meter.charged(charge)
        state.tokens += charge.input_tokens + charge.output_tokens
      }
      await journal.modelFailed(failed, charge)
    },
    again: start,
  })
  input.on_model_call()
  const called = await calling
  if ('limit' in called) return outcomeOfLimit(called.limit)
  return {
    requested: called.response.tool_calls,
    response: await redactedResponse(called.response, input.redactor),
  }
}

/**
 * Returns the attempt for a recorded call, or the limit that forbids it when the organization cannot pay for
 * it.
 */
async function attemptOf(
  input: LoopInput,
  { specs, call_ids }: LoopState,
  { reservation, ...content }: RecordedCall,
): Promise<Attempt | LimitReached> {
  const refused = await input.meter.afford(reservation)
  if (refused !== null) {
    await input.journal.modelNotCalled()
    return refused
  }
  const { instructions, timeouts, on_progress } = input
  const request = {
    ...input.request,
    instructions,
    tools: specs,
    call_ids,
    max_output_tokens: reservation.output_tokens,
    timeouts,
    on_progress,
    ...content,
  }
  return { request, reservation }
}

/**
 * Returns what follows from a call that failed: an interruption delivers messages and continues, everything
 * else ends the loop.
 */
export async function afterFailedCall(
  input: LoopInput,
  state: LoopState,
  error: unknown,
): Promise<TurnOutcome | 'continue'> {
  if (!(error instanceof ModelError)) throw error
  if (error.code === 'aborted') {
    if (input.signal.aborted) return { kind: 'stop' }
    state.messages = [...state.messages, ...(await input.journal.deliver())]
    return 'continue'
  }
  return failedCall(error)
}

/** Returns the outcome of a turn whose last model call has failed. */
export function failedCall(error: ModelError): Failure {
  const { code, message, tool_name } = error
  return { kind: 'failed', reason: reasonOf(error), code, message, phase: 'model', tool_name }
}

function reasonOf(error: ModelError): Failure['reason'] {
  if (error.code === 'auth') return 'model_auth'
  if (error.code === 'context_exceeded') return 'out_of_tokens'
  if (error.code === 'script_failed') return 'agent_error'
  return error.code === 'rejected' ? 'agent_error' : 'model_unavailable'
}

/**
 * Redacts a response before it is stored and sent back. Reasoning that redaction changes is dropped: its
 * provider has signed it and rejects other text.
 */
async function redactedResponse(
  response: ModelResponse,
  { value }: BackgroundRedactor,
): Promise<Redacted<ModelResponse>> {
  const clean: Redacted<ModelResponse> = await value(response)
  if (clean === response) return clean
  return composed({
    ...clean,
    messages: clean.messages.map((message, i) => withoutChangedReasoning(message, response.messages[i])),
  })
}

function withoutChangedReasoning(clean: ModelMessage, original: ModelMessage | undefined): ModelMessage {
  if (clean.role !== 'assistant' || typeof clean.content === 'string') return clean
  const before = original?.content
  const same = (i: number) =>
    Array.isArray(before) && JSON.stringify(before[i]) === JSON.stringify(clean.content[i])
  return { ...clean, content: clean.content.filter((part, i) => part.type !== 'reasoning' || same(i)) }
}
