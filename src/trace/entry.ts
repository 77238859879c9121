import type { LogEntry, MessageType } from '../contract/runs/logs.ts'
import type { SourceType } from '../contract/runs/runs.ts'
import { publicSourceType } from '../core/wire-profile.ts'
import type { NewEntry } from '../store/runs/append.ts'

/** What an entry may contain; what is left out is null on the wire (specification.md#logs). */
type EntryContent = {
  message_type: MessageType
  thought?: string | null
  tool_name?: string | null
  tool_input?: Record<string, unknown> | null
  tool_output?: Record<string, unknown> | null
  observation?: Record<string, unknown> | string | null
  duration_ms?: number | null
  truncated?: boolean
  /** The path of the whole output, as `artifactPath` gives it. */
  artifact_url?: string | null
}

type Body = Omit<LogEntry, 'agent_run_id' | 'seq' | 'created_at' | 'turn' | 'artifact_url'>

/**
 * Returns an entry that can be appended. NUL stays what it is, as a JSON escape; half a surrogate pair, for
 * which strict parsers refuse a whole page, becomes U+FFFD.
 */
export function entry(content: EntryContent): NewEntry {
  const body: Body = {
    message_type: content.message_type,
    thought: content.thought ?? null,
    tool_name: content.tool_name ?? null,
    tool_input: content.tool_input ?? null,
    tool_output: content.tool_output ?? null,
    observation: content.observation ?? null,
    duration_ms:
      content.duration_ms === undefined || content.duration_ms === null
        ? null
        : Math.round(content.duration_ms),
    truncated: content.truncated ?? false,
  }
  return {
    message_type: body.message_type,
    tool_name: body.tool_name,
    json: wellFormed(JSON.stringify(body)),
    artifact_url: content.artifact_url ?? null,
    failed: hasFailed(body),
  }
}

const failures: ReadonlySet<MessageType> = new Set(['ERROR', 'PR_CREATION_FAILED', 'DETECT_PR_ERRORS'])
const failed_statuses: ReadonlySet<unknown> = new Set(['error', 'timeout', 'interrupted'])

/** Whether an entry reports a failure: an error, a failed tool call, failed checks or a refused review. */
function hasFailed({ message_type, tool_output, observation }: Body): boolean {
  if (failures.has(message_type)) return true
  if (message_type !== 'ACTION') return typeof observation === 'object' && observation?.verdict === 'fail'
  const { status, exit_code } = tool_output ?? {}
  return failed_statuses.has(status) || (typeof exit_code === 'number' && exit_code !== 0)
}

/**
 * String.toWellFormed for every key and value at once: JSON.stringify writes a half pair, and nothing else,
 * as an escape of D800 to DFFF.
 */
function wellFormed(json: string): string {
  return json.includes('\\ud') ? json.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : json
}

/**
 * Returns the entry of a message to the run. Entries are the same for every wire profile, so `source_type` is
 * one of the public API. `agent` and `model`: which one works on the run, when another was requested.
 */
export const userMessage = (message: {
  text: string
  user_id: number | null
  source_type: SourceType
  mode: string
  images: number
  agent?: { agent_type: string; instead_of?: string }
  model?: { id: string; instead_of: string }
}): NewEntry => {
  const { agent, model } = message
  const notes = [
    agent?.instead_of === undefined
      ? []
      : `The agent ${agent.instead_of} is not installed; ${agent.agent_type} runs instead.`,
    model === undefined
      ? []
      : `The model ${model.instead_of} is not available here; ${model.id} is used instead.`,
  ].flat()
  return entry({
    message_type: 'USER_MESSAGE',
    observation: {
      text: message.text,
      user_id: message.user_id,
      source_type: publicSourceType(message.source_type),
      mode: message.mode,
      ...(message.images > 0 && { images: message.images }),
      ...(agent?.instead_of !== undefined && {
        agent_type: agent.agent_type,
        requested_agent_type: agent.instead_of,
      }),
      ...(model !== undefined && { model: model.id, requested_model: model.instead_of }),
      ...(notes.length > 0 && { note: notes.join(' ') }),
    },
  })
}

type ErrorDetails = { code: string; message: string; retryable: boolean; phase: string } & Record<
  string,
  unknown
>

export const errorEntry = (details: ErrorDetails, tool_name: string | null = null): NewEntry =>
  entry({ message_type: 'ERROR', tool_name, observation: details })

/**
 * Leads from the trace of one run to another that it is related to (specification.md#logs). An entry never
 * changes, so it holds nothing that does.
 */
export const runLink = (
  to: { id: number; web_url: string },
  relation: 'child' | 'parent' | 'fork' | 'analysis',
  more: { from_seq?: number } = {},
): NewEntry =>
  entry({
    message_type: 'AGENT_RUN_LINK',
    observation: { agent_run_id: to.id, relation, web_url: to.web_url, ...more },
  })
