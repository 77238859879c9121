import { countedTokens, type LimitReached } from '../core/runs/budget/limits.ts'
import { outcomeOfLimit, type TurnOutcome } from '../core/runs/outcome.ts'
import { ModelError } from '../model/port.ts'
import { composed } from '../redaction/port.ts'
import { compactAfterRefusal, compactConversation, mustCompact } from './compaction/compact-step.ts'
import type { LoopInput, LoopOutcome, LoopState } from './loop-state.ts'
import type { PlannedCall } from './meter.ts'
import { afterFailedCall, type CallResponse, callRecorded, type RecordedCall } from './recorded-call.ts'
import { createRepetitionGuard } from './repetition.ts'
import { judgeText, type Verdict } from './text-response.ts'
import { toolSpecs } from './tool.ts'
import { runToolCalls, type ToolRound } from './tool-calls.ts'

/**
 * Alternates model and tools until an answer, a question, a limit or a stop. It uses no database and no HTTP:
 * dependencies are callbacks, and every event goes to the journal, the intent before the outcome.
 */
export async function runLoop(input: LoopInput): Promise<LoopOutcome> {
  const { journal, conversation } = input
  const delivered = await journal.deliver()
  // The agent had ended its turn before its worker released the run: the model is not called again.
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  const external = await input.openTools()
  const specs = toolSpecs(input.tools, input.model.tool_family, external)
  input.context.estimate.setTools(specs)
  input.context.estimate.restore(conversation.messages, conversation.counted)
  const state: LoopState = {
    messages: [...conversation.messages, ...delivered],
    steps: conversation.turn_steps,
    tokens: conversation.turn_tokens,
    call_ids: new Set(conversation.call_ids),
    called: conversation.called,
    nudged: conversation.nudged,
    empty: 0,
    refused_tokens: refusedTokens(input),
    refusals: 0,
    planned: null,
    repeats: createRepetitionGuard(),
    external,
    specs,
  }
  for (;;) {
    const outcome = await runStep(input, state)
    if (outcome !== 'continue') return outcome
  }
}

/** A limit that followed from a refusal holds for the model that refused. */
const refusedTokens = ({ conversation: { refused }, model }: LoopInput): number =>
  refused?.model === model.id ? refused.limit_tokens : Number.POSITIVE_INFINITY

/** One model request and the tool calls of its response. */
async function runStep(input: LoopInput, state: LoopState): Promise<LoopOutcome | 'continue'> {
  const { journal, meter } = input
  if (input.signal.aborted || input.leaving()) return stopped(input, state)
  const signal = input.stepSignal()
  const called = await callModel(input, state, signal)
  if (called === 'continue' || 'kind' in called) return called
  const { response, requested } = called
  state.steps++
  state.refusals = 0
  state.tokens += countedTokens(response.usage)
  for (const { id } of response.tool_calls) state.call_ids.add(id)
  meter.modelResponded(state.messages, response)
  state.messages = [...state.messages, ...response.messages]
  const [call] = response.tool_calls
  // The call is recorded with its response if it can start now, otherwise when the workspace is ready.
  const ready = input.sandboxReady()
  const verdict = call === undefined ? judgeText(input, state, response) : null
  const ends_turn = verdict?.ends_turn ?? null
  const follows = composed({ ends_turn, notice: verdict?.notice ?? null, next: (ready && call) || null })
  const signals = await journal.modelResponded(response, follows)
  if (verdict !== null) return afterText(input, state, verdict, signals.messages_waiting)
  state.called = true
  state.nudged = false
  state.empty = 0
  // The trace shows how the workspace was created before it shows what was done with it.
  await input.sandbox()
  if (!ready && call) await journal.toolStarted(call)
  return afterTools(input, state, await runToolCalls(input, state, { response, requested, signals, signal }))
}

/**
 * Calls the model once, with retries, or compacts the conversation if it is too long for that. `continue`:
 * the next step repeats the call, which was interrupted or has another conversation now.
 */
async function callModel(
  input: LoopInput,
  state: LoopState,
  signal: AbortSignal,
): Promise<CallResponse | TurnOutcome | 'continue'> {
  if (state.planned === null && mustCompact(input, state, state.messages))
    return compactConversation(input, state, 'limit', signal)
  try {
    return await callRecorded(input, state, () => recordCall(input, state, signal))
  } catch (error) {
    if (error instanceof ModelError && error.code === 'context_exceeded')
      return compactAfterRefusal(input, state, error, signal)
    return afterFailedCall(input, state, error)
  }
}

/** Plans and records the next call, unless it was recorded with the outcome of a tool. */
async function recordCall(
  input: LoopInput,
  state: LoopState,
  signal: AbortSignal,
): Promise<RecordedCall | LimitReached> {
  if (state.planned === null) {
    const next = input.meter.plan(state.messages, state)
    if (next.kind === 'limit') return next.limit
    await input.journal.modelStarted(next)
    addNotice(state, next)
    state.planned = next
  }
  const { reservation } = state.planned
  state.planned = null
  return { reservation, messages: state.messages, signal, on_delta: input.on_delta }
}

/** Adds the notice of a planned call to the conversation, of which it is part once the call is recorded. */
function addNotice(state: LoopState, { notice }: PlannedCall): void {
  if (notice !== null) state.messages = [...state.messages, notice.message]
}

async function stopped({ journal }: LoopInput, { planned }: LoopState): Promise<TurnOutcome> {
  if (planned !== null) await journal.modelNotCalled()
  return { kind: 'stop' }
}

async function deliver({ journal }: LoopInput, state: LoopState): Promise<'continue'> {
  state.messages = [...state.messages, ...(await journal.deliver())]
  return 'continue'
}

async function afterText(
  input: LoopInput,
  state: LoopState,
  { ends_turn, notice, failure }: Verdict,
  messages_waiting: boolean,
): Promise<LoopOutcome | 'continue'> {
  if (failure !== null) return failure
  if (notice === null) return ends_turn === null || messages_waiting ? deliver(input, state) : ends_turn
  if (notice.trouble === null) state.nudged = true
  else state.empty++
  state.messages = [...state.messages, notice.message]
  return messages_waiting ? deliver(input, state) : 'continue'
}

async function afterTools(
  input: LoopInput,
  state: LoopState,
  round: ToolRound,
): Promise<LoopOutcome | 'continue'> {
  state.messages = round.messages
  if (round.next?.kind === 'call') {
    state.planned = round.next
    addNotice(state, round.next)
  }
  if (input.signal.aborted) return stopped(input, state)
  if (round.failure !== null) return round.failure
  const { messages_waiting, interrupted } = round.signals
  if (round.ending !== null && !messages_waiting) return round.ending
  if (round.next?.kind === 'limit') return outcomeOfLimit(round.next.limit)
  if (!messages_waiting && !interrupted) return 'continue'
  // The reservation does not cover the messages that arrived since.
  state.planned = null
  return deliver(input, state)
}
