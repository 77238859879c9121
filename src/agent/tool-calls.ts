import { actionTool } from '../contract/runs/action-tools.ts'
import type { Failure } from '../core/runs/outcome.ts'
import type { ModelMessage, ModelResponse, ToolCall } from '../model/port.ts'
import { composed, type Redacted } from '../redaction/port.ts'
import { mustCompact } from './compaction/compact-step.ts'
import { resultsOf } from './compaction/compaction.ts'
import type { TurnEnding } from './conversation.ts'
import { toolMessage } from './conversation.ts'
import { deliverInstructions } from './folder-instructions.ts'
import type { Signals } from './journal.ts'
import type { LoopInput, LoopState } from './loop-state.ts'
import type { Meter } from './meter.ts'
import type { Repetition } from './repetition.ts'
import { failed, forModel, interrupted, runTool, type ToolResult } from './tool.ts'

/**
 * The result of the tool calls of one response. `next`: the model call that is recorded already, or the limit
 * that forbids it.
 */
export type ToolRound = {
  messages: ModelMessage[]
  signals: Signals
  ending: TurnEnding | null
  failure: Failure | null
  next: ReturnType<Meter['plan']> | null
}

/** `requested`: the calls as the model requested them, while `response` has them redacted. */
type StepCalls = {
  response: Redacted<ModelResponse>
  requested: ToolCall[]
  signals: Signals
  signal: AbortSignal
}

/**
 * Runs the calls of a response in sequence. Each is recorded before it starts and when it has ended; the last
 * outcome is recorded together with the next model call. After an interruption, an end of the turn or a
 * failure the remaining calls get a result without being run.
 */
export async function runToolCalls(input: LoopInput, state: LoopState, step: StepCalls): Promise<ToolRound> {
  const { response, requested, signal } = step
  let { messages } = state
  let { signals } = step
  let ending: TurnEnding | null = null
  let failure: Failure | null = null
  let next: ToolRound['next'] = null
  const calls = response.tool_calls
  for (const [i, call] of calls.entries()) {
    const last = i === calls.length - 1
    const skipped = ending !== null || failure !== null || signals.interrupted || signal.aborted
    const cut = last && call.input === null && response.finish_reason === 'length'
    const ran = skipped
      ? notRun()
      : cut
        ? cutOff(call, response)
        : await runCall(input, state, { call, requested: requested[i] ?? call, signal })
    if (!skipped && ending === null) ending = endingOf(call, ran)
    // A script may repeat itself as often as its author wants.
    const repetition: Repetition =
      skipped || input.model.scripted ? { kind: 'none' } : state.repeats(call, ran)
    const delivered = await deliverInstructions(input, messages, call, ran)
    const result = { ...ran, output: { ...ran.output, ...delivered } }
    // Part of the journaled result, and not of the instructions, which are sent before a sandbox is open.
    const programs = skipped || messages.some(hasPrograms) ? null : await programsText(input)
    const additions = {
      ...delivered,
      ...(programs !== null && { programs }),
      ...(ran.images && { images: ran.images }),
    }
    const message = toolMessage(call, { ...noted(ran, repetition), ...additions })
    if (repetition.kind === 'end') failure = repeatedCall(call, repetition.calls)
    messages = [...messages, message]
    const goes_on = last && ending === null && failure === null && !signal.aborted
    next = goes_on && !mustCompact(input, state, messages) ? input.meter.plan(messages, state) : null
    const intent = last ? (next?.kind === 'call' ? next : null) : (calls[i + 1] ?? null)
    const finished = { call, result, message, response: i === 0 ? response : null }
    signals = await input.journal.toolFinished(composed({ ...finished, ends_turn: ending, next: intent }))
  }
  return { messages, signals, ending, failure, next }
}

type RequestedCall = { call: ToolCall; requested: ToolCall; signal: AbortSignal }

async function runCall(
  input: LoopInput,
  { external }: LoopState,
  { call, requested, signal }: RequestedCall,
): Promise<ToolResult> {
  await input.on_tool(call, signal)
  const context = {
    redactor: input.redactor,
    sandbox: input.sandbox,
    call_id: call.id,
    runs: input.runs,
    skills: input.skills,
    web: input.web,
    signal,
    max_seconds: input.tool_seconds,
    on_output: (chunk: Uint8Array) => input.on_output(call, chunk),
  }
  return runTool(input.tools, requested, context, external)
}

/** Redacted like the result that they become a part of. */
async function programsText({ programs, redactor }: LoopInput): Promise<string | null> {
  const text = await programs()
  return text === null ? null : redactor.text(text)
}

/** A summary may have replaced the result that had them. */
const hasPrograms = (message: ModelMessage): boolean =>
  resultsOf(message).some(
    ({ output }) => typeof Object('value' in output ? output.value : null).programs === 'string',
  )

const notRun = (): ToolResult => ({ ...interrupted(), duration_ms: 0, truncated: false, whole: null })

function noted(result: ToolResult, repetition: Repetition): Record<string, unknown> {
  if (repetition.kind !== 'warn') return forModel(result)
  const what =
    repetition.calls === 1
      ? 'this very call with this very result'
      : `the same ${repetition.calls} calls with the same results`
  return { ...forModel(result), note: `You have made ${what} several times. Do something else.` }
}

const repeatedCall = ({ name }: ToolCall, calls: number): Failure => ({
  kind: 'failed',
  reason: 'agent_error',
  code: 'repeated_call',
  phase: 'agent',
  tool_name: name,
  message:
    calls === 1
      ? `The model repeated the same call of ${name} with the same result too often.`
      : `The model repeated the same ${calls} calls with the same results too often; the last one is of ${name}.`,
})

/** The arguments end where the response did, so they are not JSON. */
function cutOff({ name }: ToolCall, { usage }: ModelResponse): ToolResult {
  const message = `The call of ${name} was cut off at ${usage.output_tokens} tokens, the maximum of one response, so it did not run. Write the file in parts.`
  return { ...failed('cut_off', message), duration_ms: 0, truncated: false, whole: null }
}

function endingOf(call: ToolCall, result: ToolResult): TurnEnding | null {
  if (result.status !== 'ok' || typeof result.observation !== 'string') return null
  if (call.name === actionTool.finish) return { kind: 'answer', text: result.observation, thought: null }
  if (call.name === actionTool.ask) return { kind: 'ask', question: result.observation }
  return null
}
