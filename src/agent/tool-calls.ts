import type { ModelAnswer, ModelMessage, ToolCall } from '../model/port.ts'
import type { TurnEnding } from './conversation.ts'
import { toolMessage } from './conversation.ts'
import type { Signals } from './journal.ts'
import type { LoopInput, LoopOutcome } from './loop.ts'
import type { PlannedCall } from './meter.ts'
import type { Repetition } from './repetition.ts'
import { forModel, interrupted, runTool, type ToolResult } from './tool.ts'

/** What came of the tool calls of one answer. `next`: the model call that is written down already, or the limit that forbids it. */
export type ToolRound = {
  messages: ModelMessage[]
  signals: Signals
  ending: TurnEnding | null
  failure: LoopOutcome | null
  next: PlannedCall | Extract<LoopOutcome, { kind: 'limit' }> | null
}

/**
 * Runs the calls of an answer in their order, each written down before it starts and when it has ended. After an interruption, an end of
 * the turn or a failure the rest is answered without being run. With the last outcome stands what comes next. `asked`: the calls as the model
 * made them, where `answer` has them as they are kept.
 */
export async function runToolCalls(
  input: LoopInput,
  answer: ModelAnswer,
  asked: ToolCall[],
  before: { messages: ModelMessage[]; signals: Signals; signal: AbortSignal },
  repeats: (call: ToolCall, result: ToolResult) => Repetition,
  plan: (messages: ModelMessage[]) => NonNullable<ToolRound['next']>,
): Promise<ToolRound> {
  const { journal, tools } = input
  const { signal } = before
  let { messages, signals } = before
  let ending: TurnEnding | null = null
  let failure: LoopOutcome | null = null
  let next: ToolRound['next'] = null
  const calls = answer.tool_calls
  for (const [i, call] of calls.entries()) {
    const last = i === calls.length - 1
    const skipped = ending !== null || failure !== null || signals.interrupted || signal.aborted
    if (!skipped) await input.on_tool(call, signal)
    const result = skipped
      ? notRun()
      : await runTool(tools, asked[i] ?? call, {
          redactor: input.redactor,
          sandbox: input.sandbox,
          call_id: call.id,
          runs: input.runs,
          signal,
          max_seconds: input.tool_seconds,
          on_output: chunk => input.on_output(call, chunk),
        })
    if (!skipped && ending === null) ending = endingOf(call, result)
    // A script may repeat itself as often as its author wants.
    const repetition = skipped || input.model.scripted ? 'none' : repeats(call, result)
    const told =
      repetition === 'warn'
        ? { ...forModel(result), note: 'You have made this very call with this very result several times. Do something else.' }
        : forModel(result)
    const message = toolMessage(call, told)
    if (repetition === 'end')
      failure = {
        ...{ kind: 'failed', reason: 'agent_error', code: 'repeated_call', phase: 'agent', tool_name: call.name },
        message: `The model made the same call of ${call.name} with the same result again and again.`,
      }
    messages = [...messages, message]
    next = last && ending === null && failure === null && !signal.aborted ? plan(messages) : null
    const intent = last ? (next?.kind === 'call' ? next : null) : (calls[i + 1] ?? null)
    signals = await journal.toolFinished({ call, result, message, answer: i === 0 ? answer : null, ends_turn: ending, next: intent })
  }
  return { messages, signals, ending, failure, next }
}

const notRun = (): ToolResult => ({ ...interrupted(), duration_ms: 0, truncated: false, whole: null })

function endingOf(call: ToolCall, result: ToolResult): TurnEnding | null {
  if (result.status !== 'ok' || typeof result.observation !== 'string') return null
  if (call.name === 'finish') return { kind: 'answer', text: result.observation, thought: null }
  if (call.name === 'ask') return { kind: 'ask', question: result.observation }
  return null
}
