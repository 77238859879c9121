import type { StatusReason } from '../contract/runs/runs.ts'
import type { LimitReached } from '../core/runs/budget-check.ts'
import { type ModelAnswer, ModelError, type ToolCall } from '../model/port.ts'
import { type Attempt, callWithRetries } from './call-with-retries.ts'
import { compact } from './conversation.ts'
import type { LoopInput, LoopOutcome, LoopState } from './loop-state.ts'
import type { PlannedCall } from './meter.ts'
import { redactedAnswer } from './redacted-answer.ts'

const KEEP_LAST = 20

/** The redacted answer, and its tool calls as the model requested them. */
export type Called = { answer: ModelAnswer; requested: ToolCall[] }

/** Calls the model once, with retries. `continue`: the call was interrupted, or the conversation compacted, and the next step repeats it. */
export async function callModel(input: LoopInput, state: LoopState, signal: AbortSignal): Promise<Called | LoopOutcome | 'continue'> {
  const { journal, meter } = input
  try {
    const first = await startCall(input, state, signal)
    if ('kind' in first) return { kind: 'limit', limit: first }
    const calling = callWithRetries(input.model, first, input.retry, {
      async failed(failed, charge) {
        if (charge !== null) {
          meter.charged(charge)
          state.tokens += charge.input_tokens + charge.output_tokens
        }
        await journal.modelFailed(failed, charge)
      },
      again: () => startCall(input, state, signal),
    })
    input.on_model_call()
    const called = await calling
    if ('limit' in called) return { kind: 'limit', limit: called.limit }
    return { requested: called.answer.tool_calls, answer: await redactedAnswer(called.answer, input.redactor) }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    return afterError(input, state, error)
  }
}

/** Records the next call, unless that is done already, and checks whether the organization can pay for it. */
async function startCall(input: LoopInput, state: LoopState, signal: AbortSignal): Promise<Attempt | LimitReached> {
  const { journal, meter } = input
  if (state.planned === null) {
    const next = meter.plan(state.messages, state)
    if (next.kind === 'limit') return next.limit
    await journal.modelStarted(next)
    addNotice(state, next)
    state.planned = next
  }
  const { reservation } = state.planned
  state.planned = null
  const refused = await meter.afford(reservation)
  if (refused !== null) {
    await journal.modelNotCalled()
    return refused
  }
  const { instructions, timeouts, on_progress, on_delta } = input
  const content = { instructions, messages: state.messages, tools: state.specs, max_output_tokens: reservation.output_tokens }
  return { request: { ...input.request, ...content, timeouts, signal, on_progress, on_delta }, reservation }
}

/** The notice of a planned call is part of the conversation once the call is recorded. */
export function addNotice(state: LoopState, { notice }: PlannedCall): void {
  if (notice !== null) state.messages = [...state.messages, notice.message]
}

async function afterError(input: LoopInput, state: LoopState, error: ModelError): Promise<LoopOutcome | 'continue'> {
  if (error.code === 'aborted') {
    if (input.signal.aborted) return { kind: 'stopped' }
    state.messages = [...state.messages, ...(await input.journal.deliver())]
    return 'continue'
  }
  if (error.code === 'context_exceeded' && state.compactions++ === 0) {
    state.messages = compact(state.messages, KEEP_LAST)
    await input.journal.compacted(KEEP_LAST)
    return 'continue'
  }
  const { code, message, tool_name } = error
  return { kind: 'failed', reason: reasonOf(error), code, message, phase: 'model', tool_name }
}

function reasonOf(error: ModelError): StatusReason {
  if (error.code === 'auth') return 'model_auth'
  if (error.code === 'context_exceeded') return 'out_of_tokens'
  if (error.code === 'script_failed') return 'agent_error'
  return error.code === 'rejected' ? 'agent_error' : 'model_unavailable'
}
