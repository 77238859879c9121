import type { StatusReason } from '../contract/runs/runs.ts'
import type { BackgroundRedactor } from '../core/redaction/background-redactor.ts'
import { countedTokens, type LimitReached } from '../core/runs/budget-check.ts'
import { type Model, type ModelAnswer, ModelError, type ModelMessage, type ModelRequest, type ToolCall } from '../model/port.ts'
import { type Attempt, callWithRetries } from './call-with-retries.ts'
import { type Conversation, compact, type TurnEnding } from './conversation.ts'
import type { LoopJournal } from './journal.ts'
import type { Meter, PlannedCall } from './meter.ts'
import { redactedAnswer } from './redacted-answer.ts'
import { createRepetitionGuard } from './repetition.ts'
import type { RetryPolicy } from './retry-policy.ts'
import { type ToolContext, type ToolTable, toolSpecs } from './tool.ts'
import { runToolCalls } from './tool-calls.ts'

export type LoopInput = {
  model: Model
  instructions: string
  tools: ToolTable
  conversation: Conversation
  journal: LoopJournal
  meter: Meter
  retry: RetryPolicy
  timeouts: ModelRequest['timeouts']
  sandbox: ToolContext['sandbox']
  runs: ToolContext['runs']
  /** What is kept, shown and told to the model again goes through it, once; tools are run with what the model wrote. */
  redactor: BackgroundRedactor
  /** The longest time-out that a command may have. */
  tool_seconds: number
  /** Whether a tool can start without waiting for the workspace. */
  sandboxReady(): boolean
  /** Aborted when the run must stop altogether. */
  signal: AbortSignal
  /** Whether to stop before the next step, with nothing begun that is not ended. */
  leaving(): boolean
  /** A fresh signal for every step: aborted with `signal`, or when somebody interrupts the step. */
  stepSignal(): AbortSignal
  /** A model call has been begun; there is time for other things now. */
  on_model_call(): void
  /** Something came from the model. */
  on_progress(): void
  on_delta(delta: { kind: 'text' | 'reasoning'; text: string }): void
  /** Before a tool starts; resolves when it may. */
  on_tool(call: ToolCall, signal: AbortSignal): Promise<void> | void
  on_output(call: ToolCall, chunk: Uint8Array): void
}

export type LoopOutcome =
  | TurnEnding
  | { kind: 'limit'; limit: LimitReached }
  /** `tool_name`: the failure is about what this tool did. */
  | { kind: 'failed'; reason: StatusReason; code: string; message: string; phase: 'model' | 'agent'; tool_name?: string | null }
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
  const { journal, meter, conversation } = input
  const specs = toolSpecs(input.tools)
  const repeats = createRepetitionGuard()
  let messages = conversation.messages
  let steps = conversation.turn_steps
  let tokens = conversation.turn_tokens
  let empty = 0
  let compactions = 0
  /** The model call that is written down and not made yet. */
  let planned: PlannedCall | null = null
  const delivered = await journal.deliver()
  // The agent had ended its turn before the worker let go of it: nothing is asked again.
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  messages = [...messages, ...delivered]

  const plan = () => meter.plan(messages, { steps, tokens })
  const tell = ({ notice }: PlannedCall) => {
    if (notice !== null) messages = [...messages, notice.message]
  }
  /** Writes the next call down, unless that has been done, and looks whether it can be paid. */
  const start = async (signal: AbortSignal): Promise<Attempt | LimitReached> => {
    if (planned === null) {
      const next = plan()
      if (next.kind === 'limit') return next.limit
      await journal.modelStarted(next)
      tell(next)
      planned = next
    }
    const { reservation } = planned
    planned = null
    const refused = await meter.afford(reservation)
    if (refused !== null) {
      await journal.modelNotCalled()
      return refused
    }
    const { instructions, timeouts, on_progress, on_delta } = input
    const asked = { instructions, messages, tools: specs, max_output_tokens: reservation.output_tokens, timeouts }
    return { request: { ...asked, signal, on_progress, on_delta }, reservation }
  }

  const stopped = async (): Promise<LoopOutcome> => {
    if (planned !== null) await journal.modelNotCalled()
    return { kind: 'stopped' }
  }

  for (;;) {
    if (input.signal.aborted || input.leaving()) return stopped()
    const signal = input.stepSignal()
    let answer: ModelAnswer
    let asked: ToolCall[]
    try {
      const first = await start(signal)
      if ('kind' in first) return { kind: 'limit', limit: first }
      const called = callWithRetries(input.model, first, input.retry, {
        async failed(failed, charge) {
          if (charge !== null) {
            meter.charged(charge)
            tokens += charge.input_tokens + charge.output_tokens
          }
          await journal.modelFailed(failed, charge)
        },
        again: () => start(signal),
      })
      input.on_model_call()
      const made = await called
      if ('limit' in made) return { kind: 'limit', limit: made.limit }
      asked = made.answer.tool_calls
      answer = await redactedAnswer(made.answer, input.redactor)
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
      const { code, message, tool_name } = error
      return { kind: 'failed', reason: reasonOf(error), code, message, phase: 'model', tool_name }
    }
    steps++
    tokens += countedTokens(answer.usage)
    meter.answered(messages, answer)
    messages = [...messages, ...answer.messages]
    const final = finalAnswer(answer)
    const [call] = answer.tool_calls
    const ready = input.sandboxReady()
    const signals = await journal.modelAnswered(answer, final, ready && call ? call : null)

    if (call === undefined) {
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
      continue
    }
    empty = 0

    // The trace tells how the workspace came to be before it tells what was done with it.
    await input.sandbox()
    if (!ready) await journal.toolStarted(call)
    const round = await runToolCalls(input, answer, asked, { messages, signals, signal }, repeats, later =>
      meter.plan(later, { steps, tokens }),
    )
    messages = round.messages
    if (round.next?.kind === 'call') {
      planned = round.next
      tell(planned)
    }
    if (input.signal.aborted) return stopped()
    if (round.failure !== null) return round.failure
    const { messages_waiting, interrupted } = round.signals
    if (round.ending !== null && !messages_waiting) return round.ending
    if (round.next?.kind === 'limit') return round.next
    if (!messages_waiting && !interrupted) continue
    // What was set aside does not cover what people have said since.
    planned = null
    messages = [...messages, ...(await journal.deliver())]
  }
}

const failedAgent = (code: string, message: string): LoopOutcome => ({
  kind: 'failed',
  reason: 'agent_error',
  code,
  message,
  phase: 'agent',
})

/** An answer without tool calls that says something ends the turn (specification.md#logs). */
function finalAnswer(answer: ModelAnswer): TurnEnding | null {
  const ends = answer.tool_calls.length === 0 && answer.text.trim() !== '' && !['length', 'refusal'].includes(answer.finish_reason)
  return ends ? { kind: 'answer', text: answer.text, thought: answer.reasoning } : null
}

function reasonOf(error: ModelError): StatusReason {
  if (error.code === 'auth') return 'model_auth'
  if (error.code === 'context_exceeded') return 'out_of_tokens'
  if (error.code === 'script_failed') return 'agent_error'
  return error.code === 'rejected' ? 'agent_error' : 'model_unavailable'
}
