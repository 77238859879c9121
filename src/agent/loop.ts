import { countedTokens } from '../core/runs/budget-check.ts'
import type { ModelAnswer, ModelMessage } from '../model/port.ts'
import type { TurnEnding } from './conversation.ts'
import type { Signals } from './journal.ts'
import type { LoopInput, LoopOutcome, LoopState } from './loop-state.ts'
import { addNotice, callModel } from './model-step.ts'
import { createRepetitionGuard } from './repetition.ts'
import { toolSpecs } from './tool.ts'
import { runToolCalls, type ToolRound } from './tool-calls.ts'

const MAX_EMPTY_ANSWERS = 2
const NUDGE: ModelMessage = {
  role: 'user',
  content: 'Your last answer was empty or cut off. Continue: call a tool, or give the final answer.',
}

/**
 * Alternates model and tools until an answer, a question, a limit or a stop. It uses no database and no HTTP: dependencies are callbacks, and
 * every event goes to the journal, the intent before the outcome.
 */
export async function runLoop(input: LoopInput): Promise<LoopOutcome> {
  const { journal, conversation } = input
  const delivered = await journal.deliver()
  // The agent had ended its turn before its worker released the run: the model is not called again.
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  const state: LoopState = {
    messages: [...conversation.messages, ...delivered],
    steps: conversation.turn_steps,
    tokens: conversation.turn_tokens,
    empty: 0,
    compactions: 0,
    planned: null,
    repeats: createRepetitionGuard(),
    specs: toolSpecs(input.tools),
  }
  for (;;) {
    const outcome = await runStep(input, state)
    if (outcome !== 'continue') return outcome
  }
}

/** One model request and the tool calls of its answer. */
async function runStep(input: LoopInput, state: LoopState): Promise<LoopOutcome | 'continue'> {
  const { journal, meter } = input
  if (input.signal.aborted || input.leaving()) return stopped(input, state)
  const signal = input.stepSignal()
  const called = await callModel(input, state, signal)
  if (called === 'continue' || 'kind' in called) return called
  const { answer, requested } = called
  state.steps++
  state.tokens += countedTokens(answer.usage)
  meter.answered(state.messages, answer)
  state.messages = [...state.messages, ...answer.messages]
  const final = finalAnswer(answer)
  const [call] = answer.tool_calls
  const ready = input.sandboxReady()
  const signals = await journal.modelAnswered(answer, final, ready && call ? call : null)
  if (call === undefined) return withoutTools(input, state, { answer, final, signals })
  state.empty = 0
  // The trace shows how the workspace was created before it shows what was done with it.
  await input.sandbox()
  if (!ready) await journal.toolStarted(call)
  return afterTools(input, state, await runToolCalls(input, state, { answer, requested, signals, signal }))
}

async function stopped({ journal }: LoopInput, { planned }: LoopState): Promise<LoopOutcome> {
  if (planned !== null) await journal.modelNotCalled()
  return { kind: 'stopped' }
}

async function deliver({ journal }: LoopInput, state: LoopState): Promise<'continue'> {
  state.messages = [...state.messages, ...(await journal.deliver())]
  return 'continue'
}

async function withoutTools(
  input: LoopInput,
  state: LoopState,
  { answer, final, signals }: { answer: ModelAnswer; final: TurnEnding | null; signals: Signals },
): Promise<LoopOutcome | 'continue'> {
  if (answer.finish_reason === 'refusal')
    return failedAgent('refused', `The model refused: ${answer.text.slice(0, 2_000) || 'it gave no reason'}`)
  if (final !== null) return signals.messages_waiting ? deliver(input, state) : final
  if (++state.empty > MAX_EMPTY_ANSWERS)
    return failedAgent('empty_answer', `The model gave ${state.empty} empty or cut-off answers in a row.`)
  const cut = answer.finish_reason === 'length'
  const message = cut ? "The model's answer was cut off at its length limit." : 'The model gave an empty answer.'
  await input.journal.trouble('empty_answer', message, NUDGE)
  state.messages = [...state.messages, NUDGE]
  return 'continue'
}

async function afterTools(input: LoopInput, state: LoopState, round: ToolRound): Promise<LoopOutcome | 'continue'> {
  state.messages = round.messages
  if (round.next?.kind === 'call') {
    state.planned = round.next
    addNotice(state, round.next)
  }
  if (input.signal.aborted) return stopped(input, state)
  if (round.failure !== null) return round.failure
  const { messages_waiting, interrupted } = round.signals
  if (round.ending !== null && !messages_waiting) return round.ending
  if (round.next?.kind === 'limit') return round.next
  if (!messages_waiting && !interrupted) return 'continue'
  // The reservation does not cover the messages that arrived since.
  state.planned = null
  return deliver(input, state)
}

const failedAgent = (code: string, message: string): LoopOutcome => ({
  kind: 'failed',
  reason: 'agent_error',
  code,
  message,
  phase: 'agent',
})

/** An answer with text and without tool calls ends the turn (specification.md#logs). */
function finalAnswer(answer: ModelAnswer): TurnEnding | null {
  const ends = answer.tool_calls.length === 0 && answer.text.trim() !== '' && !['length', 'refusal'].includes(answer.finish_reason)
  return ends ? { kind: 'answer', text: answer.text, thought: answer.reasoning } : null
}
