import { readFileSync } from 'node:fs'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { truncateText } from '../../core/text/truncate.ts'
import type { ModelMessage, ModelResponse } from '../../model/port.ts'
import { resultsOf, SUMMARY_PREFIX } from './compaction.ts'

/**
 * The message that requests a summary, at the end of the conversation: its prefix is in the provider's cache.
 */
export const SUMMARY_REQUEST: ModelMessage = {
  role: 'user',
  content: readFileSync(new URL('../prompts/summarize.md', import.meta.url), 'utf8').trim(),
}

const MAX_LINES = 30
const MAX_FAILURES = 5
const MAX_TEXTS = 5
const TEXT_CHARS = 1_500
const EARLIER_CHARS = 12_000

/** Returns the text of a summary in a response of the model; null: it has none. */
export function summaryOf({ text, finish_reason }: ModelResponse): string | null {
  return finish_reason === 'refusal' || text.trim() === '' ? null : text.trim()
}

/** `outcome`: the exit code of a command, or the status. */
type SeenCall = {
  name: string
  input: Record<string, unknown>
  ok: boolean
  outcome: string
  error: string | null
}
/** Tools whose `path` is only read. */
const READERS: readonly string[] = [actionTool.read, actionTool.search]

/**
 * Returns a summary without a model, for when none can be had: the calls, failures and texts of the
 * conversation as they are.
 */
export function serviceSummary(messages: ModelMessage[]): string {
  const seen = callsIn(messages)
  const plan = seen.findLast(({ name }) => name === actionTool.plan)
  const changed = seen.flatMap(({ name, input, ok }) =>
    ok && !READERS.includes(name) ? pathsIn(input).map(path => `- ${path}`) : [],
  )
  const commands = seen.flatMap(({ input, outcome }) =>
    typeof input.command === 'string' ? [`- \`${truncateText(input.command, 200).text}\`: ${outcome}`] : [],
  )
  const failures = seen.flatMap(({ name, error }) =>
    error === null ? [] : [`- ${name}: ${truncateText(error, 500).text}`],
  )
  const sections: [string, string[]][] = [
    ['Plan', plan ? [JSON.stringify(plan.input.items ?? null)] : []],
    ['Changed files', [...new Set(changed)].slice(-MAX_LINES)],
    ['Commands', commands.slice(-MAX_LINES)],
    ['Failures', failures.slice(-MAX_FAILURES)],
    ['Your last texts, and notices', textsIn(messages).slice(-MAX_TEXTS)],
    ['An earlier summary', earlierSummary(messages)],
  ]
  const listed = sections.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [`## ${title}\n${lines.join('\n')}`],
  )
  return ['The service wrote this summary, because the model could not.', ...listed].join('\n\n')
}

/** The files that a call names: as its path, or in its patch. */
function pathsIn({ path, patch }: Record<string, unknown>): string[] {
  if (typeof path === 'string') return [path]
  return typeof patch === 'string'
    ? [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].flatMap(([, name]) => name ?? [])
    : []
}

function callsIn(messages: ModelMessage[]): SeenCall[] {
  const results = new Map(
    messages
      .flatMap(resultsOf)
      .map(part => [part.toolCallId, 'value' in part.output ? part.output.value : null]),
  )
  return messages.flatMap(({ role, content }) => {
    if (role !== 'assistant' || typeof content === 'string') return []
    return content.flatMap(part => {
      if (part.type !== 'tool-call') return []
      const output = recordOf(results.get(part.toolCallId))
      const status = typeof output.status === 'string' ? output.status : 'unknown'
      const outcome = typeof output.exit_code === 'number' ? `exit code ${output.exit_code}` : status
      const error = typeof output.error === 'string' ? output.error : null
      return [{ name: part.toolName, input: recordOf(part.input), ok: status === 'ok', outcome, error }]
    })
  })
}

function textsIn(messages: ModelMessage[]): string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'assistant' && role !== 'user') return []
    const texts =
      typeof content === 'string'
        ? [content]
        : content.flatMap(part => (part.type === 'text' ? [part.text] : []))
    // What people wrote is kept anyway.
    if (role === 'user' && typeof content !== 'string') return []
    return texts.flatMap(text =>
      text.trim() === '' || text.startsWith(SUMMARY_PREFIX) ? [] : [shortened(text)],
    )
  })
}

function earlierSummary(messages: ModelMessage[]): string[] {
  const last = messages.findLast(
    ({ content }) => typeof content === 'string' && content.startsWith(SUMMARY_PREFIX),
  )
  return typeof last?.content === 'string'
    ? [truncateText(last.content.slice(SUMMARY_PREFIX.length).trim(), EARLIER_CHARS).text]
    : []
}

const shortened = (text: string) => `- ${truncateText(text.trim(), TEXT_CHARS).text}`

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
