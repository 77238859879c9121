import { toolResultText } from '../../core/text/tool-result-text.ts'
import { truncateText } from '../../core/text/truncate.ts'
import { isPrompt, type ModelMessage } from '../../model/port.ts'

/** Why a conversation is compacted: it reached the limit, or the provider refused it as too long. */
export type CompactionCause = 'limit' | 'refused'

/**
 * What a compaction changed. It names calls of tools, not positions: a fork of the run copies the
 * conversation without notices of limits. `clear_through`: the results up to that call are cleared.
 * `shorten_to`: the characters to which each result after the last response is shortened; absent: no result
 * is. `keep_from`: the first call of the response from which on everything stays; null: nothing does.
 * `tokens_before` and `tokens_after`: estimates of the whole input. `limit_tokens`: what the conversation
 * may have.
 */
export type Compaction = {
  cause: CompactionCause
  model: string
  limit_tokens: number
  tokens_before: number
  tokens_after: number
  clear_through: string | null
  shorten_to?: number
  summary: { text: string; by: 'model' | 'service'; keep_from: string | null } | null
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>
type ToolPart = ToolMessage['content'][number]
type ResultPart = Extract<ToolPart, { type: 'tool-result' }>

export const CLEARED = 'This result was removed to save context. Repeat the call if you need it.'
export const SHORTENED =
  'Shortened, because the results of these calls do not fit into the context together. Call again for what is missing, with a narrower range.'
/** The facts of a result that stay when it is cleared or shortened. */
const KEPT_FIELDS = [
  'status',
  'exit_code',
  'path',
  'bytes',
  'replaced',
  'agent_run_id',
  'status_reason',
  'programs',
]
const ERROR_CHARS = 300
const MAX_PATHS = 20
/** A result below this size is not worth clearing: what replaces it is as long. */
const MIN_CLEARED_CHARS = 400

/**
 * Returns the conversation after a compaction. Messages that do not change stay the same objects, so that
 * requests keep their bytes.
 */
export function applyCompaction(
  messages: ModelMessage[],
  { clear_through, shorten_to, summary }: Pick<Compaction, 'clear_through' | 'shorten_to' | 'summary'>,
): ModelMessage[] {
  const cleared = clear_through === null ? messages : clearResults(messages, clear_through)
  const shorter = shorten_to === undefined ? cleared : shortenUnread(cleared, shorten_to)
  if (summary === null) return shorter
  const border = summary.keep_from === null ? shorter.length : responseOf(shorter, summary.keep_from)
  return [
    ...shorter.slice(0, border).filter(isPrompt),
    summaryMessage(summary.text),
    ...shorter.slice(border),
  ]
}

/** Returns the index after the last response: the model has not read the results from there on. */
export const unreadFrom = (messages: ModelMessage[]): number =>
  messages.findLastIndex(({ role }) => role === 'assistant') + 1

/**
 * Shortens each result that the model has not read to its beginning and its end, so that all have at most
 * `max_chars`.
 */
export function shortenUnread(messages: ModelMessage[], max_chars: number): ModelMessage[] {
  const from = unreadFrom(messages)
  return messages.map((message, i) =>
    i >= from && message.role === 'tool'
      ? changedMessage(message, part => shortenedPart(part, max_chars))
      : message,
  )
}

/**
 * Clears the results up to and including the one of call `through`. The calls stay, so the conversation stays
 * valid.
 */
export function clearResults(messages: ModelMessage[], through: string): ModelMessage[] {
  const last = messages.findLastIndex(message =>
    resultsOf(message).some(({ toolCallId }) => toolCallId === through),
  )
  return messages.map((message, i) =>
    i <= last && message.role === 'tool' ? changedMessage(message, clearedPart) : message,
  )
}

/** Returns whether `clearResults` would shorten this result. */
export const isClearable = (part: ResultPart): boolean =>
  JSON.stringify(part.output).length >= MIN_CLEARED_CHARS && fieldsOf(part).note !== CLEARED

export const resultsOf = (message: ModelMessage): ResultPart[] =>
  message.role === 'tool' ? message.content.filter(part => part.type === 'tool-result') : []

/** Returns the ids of the calls of a message, in order. */
export const callsOf = ({ role, content }: ModelMessage): string[] =>
  role !== 'assistant' || typeof content === 'string'
    ? []
    : content.flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : []))

export const SUMMARY_PREFIX =
  'Message of the service, not of a person: the earlier part of this conversation was replaced by this summary, to save context. The messages of the person are complete, and the files are as you left them.'

const summaryMessage = (text: string): ModelMessage => ({
  role: 'user',
  content: `${SUMMARY_PREFIX}\n\n${text}`,
})

function responseOf(messages: ModelMessage[], call_id: string): number {
  const found = messages.findLastIndex(message => callsOf(message).includes(call_id))
  return found < 0 ? messages.length : found
}

function changedMessage(message: ToolMessage, change: (part: ResultPart) => ResultPart): ToolMessage {
  const content = message.content.map(part => (part.type === 'tool-result' ? change(part) : part))
  return content.every((part, i) => part === message.content[i]) ? message : { ...message, content }
}

function clearedPart(part: ResultPart): ResultPart {
  if (!isClearable(part)) return part
  const fields = fieldsOf(part)
  const paths = matchedPaths(fields.matches)
  return {
    ...part,
    output: jsonOutput({ ...keptFields(fields), ...(paths.length > 0 && { paths }), note: CLEARED }),
  }
}

/** The text that the model would read becomes shorter; what the service has added to the result stays. */
function shortenedPart(part: ResultPart, max_chars: number): ResultPart {
  const fields = fieldsOf(part)
  const { note, instructions, programs, ...result } = fields
  const { text, cut } = truncateText(toolResultText(part.toolName, result), max_chars)
  if (!cut) return part
  const notes =
    typeof note === 'string' && note !== SHORTENED
      ? `${SHORTENED} ${note.replace(`${SHORTENED} `, '')}`
      : SHORTENED
  return {
    ...part,
    output: jsonOutput({
      ...keptFields(fields),
      shortened: text,
      ...(instructions !== undefined && { instructions }),
      note: notes,
    }),
  }
}

function fieldsOf({ output }: ResultPart): Record<string, unknown> {
  const value = 'value' in output ? output.value : null
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

function keptFields(fields: Record<string, unknown>): Record<string, unknown> {
  const kept = KEPT_FIELDS.flatMap(name =>
    ['string', 'number'].includes(typeof fields[name]) ? [[name, fields[name]]] : [],
  )
  const error = typeof fields.error === 'string' && { error: truncateText(fields.error, ERROR_CHARS).text }
  return { ...Object.fromEntries(kept), ...error }
}

const jsonOutput = (value: Record<string, unknown>) => ({ type: 'json', value }) as ResultPart['output']

/** The files in which a search found something. */
function matchedPaths(matches: unknown): string[] {
  if (!Array.isArray(matches)) return []
  const paths = matches.flatMap(match => /^([^:]{1,500})(?::\d+[:-]|$)/.exec(String(match))?.[1] ?? [])
  return [...new Set(paths)].slice(0, MAX_PATHS)
}
