import { truncateText } from '../../core/text/truncate.ts'
import { isPrompt, type ModelMessage } from '../../model/port.ts'

/** Why a conversation is compacted: it reached the limit, or the provider refused it as too long. */
export type CompactionCause = 'limit' | 'refused'

/**
 * What a compaction changed. It names calls of tools, not positions: a fork of the run copies the conversation without notices of limits.
 * `clear_through`: the results up to that call are cleared. `keep_from`: the first call of the answer from which on everything stays; null:
 * nothing does. `tokens_before`, `tokens_after`: estimates of the whole input. `limit_tokens`: what the conversation may have.
 */
export type Compaction = {
  cause: CompactionCause
  model: string
  limit_tokens: number
  tokens_before: number
  tokens_after: number
  clear_through: string | null
  summary: { text: string; by: 'model' | 'service'; keep_from: string | null } | null
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>
type ToolPart = ToolMessage['content'][number]
type ResultPart = Extract<ToolPart, { type: 'tool-result' }>

export const CLEARED = 'This result was removed to save context. Repeat the call if you need it.'
/** The facts of a result that stay when it is cleared. */
const KEPT_FIELDS = ['status', 'exit_code', 'path', 'bytes', 'replaced', 'agent_run_id', 'status_reason', 'programs']
const ERROR_CHARS = 300
const MAX_PATHS = 20
/** A result below this size is not worth clearing: what replaces it is as long. */
const MIN_CLEARED_CHARS = 400

/** Returns the conversation after a compaction. Messages that do not change stay the same objects, so that requests keep their bytes. */
export function applyCompaction(messages: ModelMessage[], { clear_through, summary }: Pick<Compaction, 'clear_through' | 'summary'>) {
  const cleared = clear_through === null ? messages : clearResults(messages, clear_through)
  if (summary === null) return cleared
  const border = summary.keep_from === null ? cleared.length : answerOf(cleared, summary.keep_from)
  return [...cleared.slice(0, border).filter(isPrompt), summaryMessage(summary.text), ...cleared.slice(border)]
}

/** Clears the results up to and including the one of call `through`. The calls stay, so the conversation stays valid. */
export function clearResults(messages: ModelMessage[], through: string): ModelMessage[] {
  const last = messages.findLastIndex(message => resultsOf(message).some(({ toolCallId }) => toolCallId === through))
  return messages.map((message, i) => (i <= last && message.role === 'tool' ? clearedMessage(message) : message))
}

/** Whether `clearResults` would shorten this result. */
export const isClearable = ({ output }: ResultPart): boolean =>
  JSON.stringify(output).length >= MIN_CLEARED_CHARS && !JSON.stringify(output).includes(CLEARED)

export const resultsOf = (message: ModelMessage): ResultPart[] =>
  message.role === 'tool' ? message.content.filter(part => part.type === 'tool-result') : []

/** The ids of the calls of a message, in order. */
export const callsOf = ({ role, content }: ModelMessage): string[] =>
  role !== 'assistant' || typeof content === 'string' ? [] : content.flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : []))

export const SUMMARY_PREFIX =
  'Message of the service, not of a person: the earlier part of this conversation was replaced by this summary, to save context. The messages of the person are complete, and the files are as you left them.'

const summaryMessage = (text: string): ModelMessage => ({ role: 'user', content: `${SUMMARY_PREFIX}\n\n${text}` })

function answerOf(messages: ModelMessage[], call_id: string): number {
  const found = messages.findLastIndex(message => callsOf(message).includes(call_id))
  return found < 0 ? messages.length : found
}

function clearedMessage(message: ToolMessage): ToolMessage {
  if (!resultsOf(message).some(isClearable)) return message
  return { ...message, content: message.content.map(part => (part.type === 'tool-result' && isClearable(part) ? clearedPart(part) : part)) }
}

function clearedPart(part: ResultPart): ResultPart {
  const value = 'value' in part.output ? part.output.value : null
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  const kept = KEPT_FIELDS.flatMap(name => (['string', 'number'].includes(typeof fields[name]) ? [[name, fields[name]]] : []))
  const paths = matchedPaths(fields.matches)
  const error = typeof fields.error === 'string' && { error: truncateText(fields.error, ERROR_CHARS).text }
  const output = { ...Object.fromEntries(kept), ...error, ...(paths.length > 0 && { paths }), note: CLEARED }
  return { ...part, output: { type: 'json', value: output } }
}

/** The files in which a search found something. */
function matchedPaths(matches: unknown): string[] {
  if (!Array.isArray(matches)) return []
  const paths = matches.flatMap(match => /^([^:]{1,500})(?::\d+[:-]|$)/.exec(String(match))?.[1] ?? [])
  return [...new Set(paths)].slice(0, MAX_PATHS)
}
