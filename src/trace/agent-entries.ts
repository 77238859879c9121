import type { ToolResult } from '../agent/tool.ts'
import { type ActionTool, actionTool } from '../contract/runs/action-tools.ts'
import { truncateStrings } from '../core/text/truncate.ts'
import type { ToolCall } from '../model/port.ts'
import type { Redacted } from '../redaction/port.ts'
import type { NewEntry } from '../store/runs/append.ts'
import { entry, errorEntry } from './entry.ts'

/** Characters of a tool's input that its entry shows, as of its output. */
const INPUT_CHARACTERS = 96 * 1024

type Plan = { plan: { id: number; text: string; state: string }[] }

/** Returns the entry of a plan; without a thought, that is the plan as text. */
export const planEntry = (
  plan: Plan['plan'],
  thought: string | null,
  duration_ms: number | null = null,
): NewEntry =>
  entry({
    message_type: 'PLAN_EVALUATION',
    thought: thought ?? planText({ plan }),
    observation: { plan },
    duration_ms,
  })

/**
 * Returns the entries of a tool that has ended: one ACTION, or PLAN_EVALUATION for the plan; none for
 * `finish`, whose answer is the turn's last entry. An additional ERROR for time-out, kill, unknown tool and
 * bad arguments (specification.md#logs).
 */
export function toolEntries(
  call: Redacted<ToolCall>,
  result: Redacted<ToolResult>,
  thought: Redacted<string> | null,
  artifact_url: string | null,
): Redacted<NewEntry>[] {
  return entriesOf(call, result, thought, artifact_url) as Redacted<NewEntry>[]
}

function entriesOf(
  call: ToolCall,
  result: ToolResult,
  thought: string | null,
  artifact_url: string | null,
): NewEntry[] {
  if (call.name === actionTool.finish && result.status === 'ok') return []
  if (call.name === actionTool.plan && result.status === 'ok')
    return [planEntry((result.observation as Plan).plan, thought, result.duration_ms)]
  const input = shownInput(call.input ?? { invalid: call.invalid ?? 'not a JSON object' })
  const action = entry({
    message_type: 'ACTION',
    thought,
    tool_name: call.name,
    tool_input: input.value,
    tool_output: result.images ? { ...result.output, images: result.images.length } : result.output,
    observation: result.observation ?? null,
    duration_ms: result.duration_ms,
    truncated: result.truncated || input.cut,
    artifact_url,
  })
  if (!result.error) return [action]
  return [action, errorEntry({ ...result.error, retryable: false, phase: 'tool' }, call.name)]
}

/**
 * A written file is in the diff. The entry has only its beginning and end, so that a page of a hundred
 * entries stays small.
 */
export function shownInput(input: Record<string, unknown>): { value: Record<string, unknown>; cut: boolean } {
  if (JSON.stringify(input).length <= INPUT_CHARACTERS) return { value: input, cut: false }
  return { value: truncateStrings(input, INPUT_CHARACTERS).value as Record<string, unknown>, cut: true }
}

const marks: Record<string, string> = { done: 'x', in_progress: '>', pending: ' ' }
const planText = ({ plan }: Plan) => plan.map(item => `[${marks[item.state] ?? ' '}] ${item.text}`).join('\n')

/**
 * Returns the entry of something that the service itself did for the run, shown like a tool: clone,
 * instructions, push.
 */
export function serviceAction(
  name: ActionTool,
  input: Record<string, unknown>,
  output: Record<string, unknown>,
  duration_ms: number,
): NewEntry {
  return entry({
    message_type: 'ACTION',
    tool_name: name,
    tool_input: input,
    tool_output: output,
    duration_ms,
  })
}
