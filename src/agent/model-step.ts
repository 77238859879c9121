import type { LimitReached } from '../core/runs/budget/limits.ts'
import type { TurnOutcome } from '../core/runs/outcome.ts'
import { ModelError } from '../model/port.ts'
import type { Attempt } from './call-with-retries.ts'
import { compactAfterRefusal, compactConversation, mustCompact } from './compaction/compact-step.ts'
import type { LoopInput, LoopState } from './loop-state.ts'
import type { PlannedCall } from './meter.ts'
import { afterFailedCall, attemptOf, type CallResponse, callRecorded } from './recorded-call.ts'

/**
 * Calls the model once, with retries, or compacts the conversation if it is too long for that. `continue`:
 * the next step repeats the call, which was interrupted or has another conversation now.
 */
export async function callModel(
  input: LoopInput,
  state: LoopState,
  signal: AbortSignal,
): Promise<CallResponse | TurnOutcome | 'continue'> {
  if (state.planned === null && mustCompact(input, state, state.messages))
    return compactConversation(input, state, 'limit', signal)
  try {
    return await callRecorded(input, state, () => startCall(input, state, signal))
  } catch (error) {
    if (error instanceof ModelError && error.code === 'context_exceeded')
      return compactAfterRefusal(input, state, error, signal)
    return afterFailedCall(input, state, error)
  }
}

/** Records the next call, unless that is done already, and checks whether the organization can pay for it. */
async function startCall(
  input: LoopInput,
  state: LoopState,
  signal: AbortSignal,
): Promise<Attempt | LimitReached> {
  if (state.planned === null) {
    const next = input.meter.plan(state.messages, state)
    if (next.kind === 'limit') return next.limit
    await input.journal.modelStarted(next)
    addNotice(state, next)
    state.planned = next
  }
  const planned = state.planned
  state.planned = null
  return attemptOf(input, state, planned, { messages: state.messages, signal, on_delta: input.on_delta })
}

/** Adds the notice of a planned call to the conversation, of which it is part once the call is recorded. */
export function addNotice(state: LoopState, { notice }: PlannedCall): void {
  if (notice !== null) state.messages = [...state.messages, notice.message]
}
