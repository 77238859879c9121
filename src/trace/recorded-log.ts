import { truncateStrings, truncateText } from '../core/text/truncate.ts'
import type { NewEntry } from '../store/runs/append.ts'
import { entry, errorEntry, userMessage } from './entry.ts'

/**
 * A tool call whose result has not been reported. `at`: when it was called, in milliseconds; null: not known.
 */
export type OpenCall = { id: string; name: string; input: unknown; at: number | null }
/** What one log of a session becomes. `prompt` and `answer`: the newest words of user and agent in it. */
type RecordedLog = {
  entries: NewEntry[]
  calls: OpenCall[]
  prompt: string | null
  answer: string | null
  model: string | null
}

const MAX_TEXT = 64 * 1024
const MAX_INPUT = 16 * 1024
const MAX_BLOCKS = 100
const MAX_OPEN_CALLS = 50
const MAX_NAME = 100

type Json = Record<string, unknown>
type Block = { log: Json; block: Json; user_id: number; final: boolean }

/**
 * Returns the entries of one log of Claude Code, whatever it holds: `log` is a JSON object of any shape,
 * without secrets. A tool call waits in `calls` for its result. `final`: the session has reported its end, so
 * a text of the agent is its answer.
 */
export function recordLog(
  log: Json,
  calls: readonly OpenCall[],
  { user_id, final }: { user_id: number; final: boolean },
): RecordedLog {
  const recorded: RecordedLog = { entries: [], calls: [...calls], prompt: null, answer: null, model: null }
  const message = objectOf(log.message)
  const blocks =
    message && (log.type === 'user' || log.type === 'assistant') && log.isMeta !== true
      ? blocksOf(message.content)
      : []
  const error = errorOf(log, blocks)
  if (error !== null) recorded.entries.push(sessionError(error))
  else if (blocks.length === 0) recorded.entries.push(unknownEntry(log))
  else for (const block of blocks.slice(0, MAX_BLOCKS)) recordBlock(recorded, { log, block, user_id, final })
  if (log.type === 'assistant' && typeof message?.model === 'string' && message.model !== '<synthetic>')
    recorded.model = message.model.slice(0, MAX_NAME) || null
  while (recorded.calls.length > MAX_OPEN_CALLS)
    recorded.entries.push(...closeCalls(recorded.calls.splice(0, 1)))
  return recorded
}

/** Closes calls whose results will not be reported, because the session ended. */
export const closeCalls = (calls: readonly OpenCall[]): NewEntry[] =>
  calls.map(call =>
    action(call, { status: 'unknown', output: 'The session reported no result of this call.' }, null),
  )

/** Returns the entry for the end of a session that reports an error. */
export const sessionError = (message: string): NewEntry =>
  errorEntry({
    code: 'agent_error',
    message: truncateText(message, MAX_TEXT).text,
    retryable: false,
    phase: 'agent',
  })

export const finalAnswer = (text: string): NewEntry =>
  entry({ message_type: 'FINAL_ANSWER', observation: text })

function recordBlock(recorded: RecordedLog, { log, block, user_id, final }: Block): void {
  const text = typeof block.text === 'string' ? block.text : null
  const { text: shown, cut } = truncateText(text ?? '', MAX_TEXT)
  // What an agent sends to an agent of its own is neither a prompt of the user nor the answer to one.
  const of_main = log.isSidechain !== true
  if (block.type === 'tool_result') recordResult(recorded, log, block)
  else if (log.type === 'user' && block.type === 'text' && text !== null && of_main) {
    recorded.prompt = shown
    recorded.entries.push(
      userMessage({ text: shown, user_id, source_type: 'LOCAL', mode: 'prompt', images: 0 }),
    )
  } else if (log.type === 'assistant' && block.type === 'text' && text !== null) {
    if (of_main) recorded.answer = shown
    const is_answer = final && of_main
    recorded.entries.push(
      is_answer
        ? finalAnswer(shown)
        : entry({ message_type: 'PLAN_EVALUATION', thought: shown, truncated: cut }),
    )
  } else if (log.type === 'assistant' && block.type === 'thinking' && typeof block.thinking === 'string') {
    const thought = truncateText(block.thinking, MAX_TEXT)
    recorded.entries.push(
      entry({ message_type: 'PLAN_EVALUATION', thought: thought.text, truncated: thought.cut }),
    )
  } else if (log.type === 'assistant' && block.type === 'tool_use' && typeof block.id === 'string') {
    const name = typeof block.name === 'string' ? block.name : 'tool'
    const input = truncateStrings(block.input, MAX_INPUT).value
    recorded.calls.push({
      id: block.id.slice(0, MAX_NAME),
      name: name.slice(0, MAX_NAME) || 'tool',
      input,
      at: timeOf(log),
    })
  } else recorded.entries.push(unknownEntry(block))
}

function recordResult(recorded: RecordedLog, log: Json, block: Json): void {
  const id = typeof block.tool_use_id === 'string' ? block.tool_use_id.slice(0, MAX_NAME) : ''
  const at = recorded.calls.findIndex(call => call.id === id)
  const [call] = at < 0 ? [] : recorded.calls.splice(at, 1)
  const output = { status: block.is_error === true ? 'error' : 'ok', output: textOf(block.content) }
  recorded.entries.push(
    action(call ?? { id, name: 'tool', input: { tool_use_id: id }, at: null }, output, timeOf(log)),
  )
}

function action(call: OpenCall, output: { status: string; output: unknown }, ended: number | null): NewEntry {
  const shown = truncateStrings(output, MAX_TEXT)
  const duration_ms =
    call.at === null || ended === null ? null : Math.min(Math.max(0, ended - call.at), 2 ** 31 - 1)
  return entry({
    message_type: 'ACTION',
    tool_name: call.name,
    tool_input: objectOf(call.input) ?? { value: call.input ?? null },
    tool_output: shown.value as Json,
    duration_ms,
    truncated: shown.cut,
  })
}

/** Whatever this service has no entry for: its type as the name, and all of it as JSON. */
function unknownEntry(log: Json): NewEntry {
  const { value, cut } = truncateStrings(log, MAX_TEXT)
  const type = typeof log.type === 'string' && /^[\w.-]{1,60}$/.test(log.type) ? log.type : 'unknown'
  return entry({
    message_type: 'ACTION',
    tool_name: `session_${type}`,
    tool_output: value as Json,
    truncated: cut,
  })
}

/** The words of a log that reports an error; null: it reports none. */
function errorOf(log: Json, blocks: Json[]): string | null {
  const is_error =
    log.isApiErrorMessage === true || log.type === 'error' || (log.type === 'system' && log.level === 'error')
  if (!is_error) return null
  const words = [
    ...blocks.map(({ text }) => text),
    log.content,
    objectOf(log.error)?.message,
    log.error,
  ].filter(word => typeof word === 'string' && word !== '')
  return words.length > 0 ? words.join('\n') : JSON.stringify(truncateStrings(log, MAX_TEXT).value)
}

/** The content of a message as blocks: a text is one, and whatever is not an object is shown as one. */
function blocksOf(content: unknown): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content)
    ? content.map(block => objectOf(block) ?? { type: 'unknown', value: block })
    : []
}

/** The content of a tool's result: texts joined, anything else as it is. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? ''
  const texts = content.map(block => objectOf(block)?.text)
  return texts.every(text => typeof text === 'string') ? texts.join('\n') : content
}

function timeOf(log: Json): number | null {
  const time = typeof log.timestamp === 'string' ? Date.parse(log.timestamp) : Number.NaN
  return Number.isNaN(time) ? null : time
}

const objectOf = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
