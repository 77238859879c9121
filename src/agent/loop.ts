import type { StatusReason } from '../contract/runs.ts'
import type { LimitReached } from '../core/run-limits.ts'
import { type Model, type ModelAnswer, ModelError, type ModelMessage, type ModelRequest, type ToolCall } from '../model/port.ts'
import { type Conversation, compact, type TurnEnding, toolMessage } from './conversation.ts'
import { callWithRetries, type FailedAttempt, type RetryPolicy } from './model-call.ts'
import { createRepetitionGuard } from './repetition.ts'
import { forModel, interrupted, runTool, type ToolContext, type ToolResult, type ToolTable, toolSpecs } from './tool.ts'

/** What the loop hears back from every write: whether people have said something meanwhile. */
export type Signals = { messages_waiting: boolean; interrupted: boolean }

/**
 * Where the loop writes what it is about to do and what came of it, before it goes on. Every method resolves when that is durable;
 * a rejection (the run is not ours any more) ends the loop.
 */
export type LoopJournal = {
  /**
   * Takes what people sent; it is part of the conversation from then on. Writes that the model is called next, unless the turn has
   * `ended` and nobody said anything.
   */
  deliver(ended?: boolean): Promise<ModelMessage[]>
  /** Before a model call. */
  modelStarted(): Promise<Signals>
  modelFailed(failed: FailedAttempt): Promise<void>
  /** The answer, whether it ends the turn, and the intent to run `next` if it calls a tool. */
  modelAnswered(answer: ModelAnswer, ends_turn: TurnEnding | null, next: ToolCall | null): Promise<Signals>
  /** An outcome, and the intent for what comes now: the next call, or the model again. */
  toolFinished(
    call: ToolCall,
    result: ToolResult,
    message: ModelMessage,
    answer: ModelAnswer | null,
    ends_turn: TurnEnding | null,
    next: ToolCall | 'model' | null,
  ): Promise<Signals>
  /** Something that is worth an ERROR entry but does not end the run, and what the model is told about it. */
  trouble(code: string, message: string, told: ModelMessage): Promise<void>
  compacted(keep_last: number): Promise<void>
}

export type LoopInput = {
  model: Model
  instructions: string
  tools: ToolTable
  conversation: Conversation
  journal: LoopJournal
  retry: RetryPolicy
  timeouts: ModelRequest['timeouts']
  max_output_tokens: number
  sandbox: ToolContext['sandbox']
  /** Aborted when the run must stop altogether. */
  signal: AbortSignal
  /** A fresh signal for every step: aborted with `signal`, or when somebody interrupts the step. */
  stepSignal(): AbortSignal
  checkLimits(turn: { steps: number; tokens: number }): LimitReached | null
  /** A model call has been begun; there is time for other things now. */
  on_model_call(): void
  on_delta(delta: { kind: 'text' | 'reasoning'; text: string }): void
  on_tool(call: ToolCall): void
  on_output(call: ToolCall, chunk: Uint8Array): void
}

export type LoopOutcome =
  | TurnEnding
  | { kind: 'limit'; limit: LimitReached }
  | { kind: 'failed'; reason: StatusReason; code: string; message: string; phase: 'model' | 'agent' }
  | { kind: 'stopped' }

const KEEP_LAST = 20
const MOST_EMPTY_ANSWERS = 2
const NUDGE: ModelMessage = {
  role: 'user',
  content: 'Your last answer was empty or cut off. Go on: call a tool, or give the final answer.',
}

/**
 * Model ⇄ tools until an answer, a question, a limit or a stop. Knows no database and no HTTP: what it needs comes in as callbacks,
 * what happens goes out by the journal, intent before outcome.
 */
export async function runLoop(input: LoopInput): Promise<LoopOutcome> {
  const { journal, tools, conversation } = input
  const specs = toolSpecs(tools)
  const repeats = createRepetitionGuard()
  let messages = conversation.messages
  let steps = conversation.turn_steps
  let tokens = conversation.turn_tokens
  let empty = 0
  let compactions = 0
  const delivered = await journal.deliver(conversation.ending !== null)
  // The agent had ended its turn before the worker let go of it: nothing is asked again.
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  messages = [...messages, ...delivered]

  for (;;) {
    if (input.signal.aborted) return { kind: 'stopped' }
    const limit = input.checkLimits({ steps, tokens })
    if (limit) return { kind: 'limit', limit }
    const signal = input.stepSignal()
    let answer: ModelAnswer
    try {
      const request = {
        instructions: input.instructions,
        messages,
        tools: specs,
        max_output_tokens: input.max_output_tokens,
        timeouts: input.timeouts,
        signal,
        on_delta: input.on_delta,
      }
      const called = callWithRetries(input.model, request, input.retry, failed => journal.modelFailed(failed))
      input.on_model_call()
      answer = await called
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      if (error.code === 'aborted') {
        if (input.signal.aborted) return { kind: 'stopped' }
        messages = [...messages, ...(await journal.deliver())]
        continue
      }
      if (error.code === 'context_exceeded' && compactions++ === 0) {
        messages = compact(messages, KEEP_LAST)
        await journal.compacted(KEEP_LAST)
        continue
      }
      return { kind: 'failed', reason: reasonOf(error), code: error.code, message: error.message, phase: 'model' }
    }
    steps++
    tokens += answer.usage.input_tokens + answer.usage.output_tokens
    messages = [...messages, ...answer.messages]
    const calls = answer.tool_calls
    const final = finalAnswer(answer)
    let signals = await journal.modelAnswered(answer, final, calls[0] ?? null)

    if (calls.length === 0) {
      if (answer.finish_reason === 'refusal')
        return failedAgent('refused', `The model refused: ${answer.text.slice(0, 2_000) || 'it gave no reason'}`)
      if (final !== null) {
        if (!signals.messages_waiting) return final
        messages = [...messages, ...(await journal.deliver())]
        continue
      }
      if (++empty > MOST_EMPTY_ANSWERS) return failedAgent('empty_answer', `The model gave ${empty} empty or cut-off answers in a row.`)
      const cut = answer.finish_reason === 'length'
      await journal.trouble(
        'empty_answer',
        cut ? "The model's answer was cut off at its length limit." : 'The model gave an empty answer.',
        NUDGE,
      )
      messages = [...messages, NUDGE]
      await journal.modelStarted()
      continue
    }
    empty = 0

    // The trace tells how the workspace came to be before it tells what was done with it.
    await input.sandbox()
    let ending: TurnEnding | null = null
    let failure: LoopOutcome | null = null
    for (const [i, call] of calls.entries()) {
      const last = i === calls.length - 1
      const skipped = ending !== null || failure !== null || signals.interrupted || signal.aborted
      if (!skipped) input.on_tool(call)
      const result = skipped
        ? notRun()
        : await runTool(tools, call, { sandbox: input.sandbox, signal, on_output: chunk => input.on_output(call, chunk) })
      if (!skipped && ending === null) ending = endingOf(call, result)
      // A script may repeat itself as often as its author wants.
      const repetition = skipped || input.model.scripted ? 'none' : repeats(call, result)
      const told =
        repetition === 'warn'
          ? { ...forModel(result), note: 'You have made this very call with this very result several times. Do something else.' }
          : forModel(result)
      const message = toolMessage(call, told)
      if (repetition === 'end')
        failure = failedAgent('repeated_call', `The model made the same call of ${call.name} with the same result again and again.`)
      messages = [...messages, message]
      const next = last ? (ending || failure ? null : 'model') : (calls[i + 1] ?? null)
      signals = await journal.toolFinished(call, result, message, i === 0 ? answer : null, ending, next)
    }
    if (input.signal.aborted) return { kind: 'stopped' }
    if (failure !== null) return failure
    if (ending !== null && !signals.messages_waiting) return ending
    if (signals.messages_waiting || signals.interrupted) messages = [...messages, ...(await journal.deliver())]
  }
}

const notRun = (): ToolResult => ({ ...interrupted(), duration_ms: 0, truncated: false, whole: null })
const failedAgent = (code: string, message: string): LoopOutcome => ({
  kind: 'failed',
  reason: 'agent_error',
  code,
  message,
  phase: 'agent',
})

/** An answer without tool calls that says something ends the turn (decisions §5). */
function finalAnswer(answer: ModelAnswer): TurnEnding | null {
  const ends = answer.tool_calls.length === 0 && answer.text.trim() !== '' && !['length', 'refusal'].includes(answer.finish_reason)
  return ends ? { kind: 'answer', text: answer.text, thought: answer.reasoning } : null
}

function endingOf(call: ToolCall, result: ToolResult): TurnEnding | null {
  if (result.status !== 'ok' || typeof result.observation !== 'string') return null
  if (call.name === 'finish') return { kind: 'answer', text: result.observation, thought: null }
  if (call.name === 'ask') return { kind: 'ask', question: result.observation }
  return null
}

function reasonOf(error: ModelError): StatusReason {
  if (error.code === 'auth') return 'model_auth'
  if (error.code === 'context_exceeded') return 'out_of_tokens'
  if (error.code === 'script_failed') return 'agent_error'
  return error.code === 'rejected' ? 'agent_error' : 'model_unavailable'
}
