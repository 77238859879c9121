import { actionTool } from '../../contract/runs/action-tools.ts'
import type { LogEntry } from '../sdk/operations.ts'
import { firstLine, plainText } from './plain-text.ts'
import type { Printer, Style } from './printer.ts'

type Layout = Pick<Printer, 'style' | 'width'>

const styles: Record<string, Style> = {
  ERROR: 'red',
  PR_CREATION_FAILED: 'red',
  FINAL_ANSWER: 'green',
  USER_MESSAGE: 'cyan',
}

/**
 * Returns an entry of a trace for people: number, type, tool, what was done and how it ended, on one line,
 * behind what the agent thought of it. `full`: everything that the entry holds, below it.
 */
export function entryLines(entry: LogEntry, layout: Layout, full = false): string[] {
  const { seq, message_type, tool_name, thought } = entry
  const type = plainText(message_type)
  const tool = tool_name === null ? '' : `${firstLine(tool_name, 60)} `
  const position = `${String(seq).padStart(4)} `
  const head = `${position}${type.padEnd(15)} ${tool}`
  const outcome = outcomeOf(entry)
  const room = layout.width === null ? 500 : Math.max(20, layout.width - head.length - outcome.length - 4)
  const text = full ? '' : firstLine(summary(entry), room)
  const style = styles[type]
  const line = [
    layout.style('dim', position),
    style ? layout.style(style, type.padEnd(15)) : type.padEnd(15),
    ` ${layout.style('bold', tool)}${text}`,
    outcome === '' ? '' : `  ${layout.style(bad(entry) ? 'red' : 'dim', outcome)}`,
  ].join('')
  if (full) return [line.trimEnd(), ...everything(entry)]
  const below = full ? [] : outputTail(entry, layout)
  const before =
    message_type !== 'PLAN_EVALUATION' && thought
      ? [layout.style('dim', `${' '.repeat(position.length)}${firstLine(thought, room)}`)]
      : []
  return [...before, line.trimEnd(), ...below]
}

/** Lines of output that are shown below a command: all of a failed one is at its end. */
const OUTPUT_LINES = 5
const FAILED_OUTPUT_LINES = 15

function outputTail(entry: LogEntry, layout: Layout): string[] {
  const output = entry.message_type === 'ACTION' ? entry.tool_output?.output : null
  if (entry.tool_name !== actionTool.shell || typeof output !== 'string') return []
  const lines = plainText(output).trimEnd().split('\n')
  const shown = lines
    .slice(-(bad(entry) ? FAILED_OUTPUT_LINES : OUTPUT_LINES))
    .filter(line => line !== '' || lines.length > 1)
  const room = layout.width === null ? 500 : Math.max(20, layout.width - 6)
  const omitted =
    lines.length > shown.length && lines.length > 1 ? [`… ${lines.length - shown.length} lines before`] : []
  return [...omitted, ...shown].map(line => layout.style('dim', `      ${line.slice(0, room)}`.trimEnd()))
}

/** What an entry is about, in one text. */
function summary(entry: LogEntry): string {
  const { message_type, tool_input, thought, observation } = entry
  if (message_type === 'ACTION' && tool_input) return actionText(entry, tool_input)
  if (typeof observation === 'string') return observation
  if (message_type === 'PLAN_EVALUATION' && thought) return thought
  const text = titles[message_type]?.(observation ?? {}) ?? ''
  if (text !== '') return text
  for (const key of ['text', 'message', 'body', 'title', 'url'])
    if (typeof observation?.[key] === 'string') return observation[key]
  return thought ?? fieldsOf(observation ?? {})
}

function actionText({ tool_name, tool_output }: LogEntry, input: ObservedFields): string {
  if (tool_name === actionTool.git_clone) return `${input.repository} at ${input.base_ref}`
  const text = ['command', 'path', 'pattern', 'question', 'url', 'branch', 'name'].map(key => input[key])
  return [...text, tool_output?.path].find(value => typeof value === 'string') ?? fieldsOf(input)
}

/** The fields of something that has no text of its own: `how cleared, tokens 1200`. */
const fieldsOf = (fields: ObservedFields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

type ObservedFields = Record<string, unknown>
const listOf = (value: unknown): ObservedFields[] =>
  Array.isArray(value) ? value.filter(item => item !== null && typeof item === 'object') : []
const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`
const namesOf = (value: unknown) =>
  (Array.isArray(value) ? value : []).map(item => String(Object(item).name ?? item)).join(', ')

/** What an entry whose observation has no text reports. */
const titles: Partial<Record<LogEntry['message_type'], (observation: ObservedFields) => string>> = {
  COMMIT_EVALUATION: observation =>
    verdictOf(
      observation,
      listOf(observation.commits)
        .map(({ subject, title, message }) => String(subject ?? title ?? message ?? ''))
        .join(', '),
    ),
  PR_EVALUATION: observation => verdictOf(observation, ''),
  INITIAL_PR_GENERATION: ({ pr_number, title }) =>
    [pr_number == null ? '' : `#${pr_number}`, title ?? ''].join(' ').trim(),
  DETECT_PR_ERRORS: ({ checks, attempt, max_attempts }) =>
    `failed: ${namesOf(checks)}; attempt ${attempt} of ${max_attempts}`,
  FIX_PR_ERRORS: ({ fixed_checks, remaining_checks }) =>
    `fixed: ${namesOf(fixed_checks) || 'none'}; still failing: ${namesOf(remaining_checks) || 'none'}`,
  AGENT_RUN_LINK: ({ relation, agent_run_id }) => `${relation} run ${agent_run_id}`,
}

const verdictOf = ({ verdict, findings }: ObservedFields, what: string) =>
  [
    what,
    String(verdict ?? ''),
    listOf(findings).length === 0 ? '' : count(listOf(findings).length, 'finding'),
  ]
    .filter(Boolean)
    .join(' · ')

const bad = ({ message_type, tool_output }: LogEntry) =>
  message_type === 'ACTION' &&
  (['error', 'timeout', 'interrupted'].includes(String(tool_output?.status)) ||
    Number(tool_output?.exit_code ?? 0) !== 0)

/** How a tool ended and how long it took. */
function outcomeOf({ message_type, tool_output, duration_ms }: LogEntry): string {
  if (message_type !== 'ACTION') return ''
  const { status, exit_code } = tool_output ?? {}
  const ended =
    typeof exit_code === 'number'
      ? `exit ${exit_code}`
      : typeof status === 'string' && status !== 'ok'
        ? firstLine(status, 30)
        : ''
  const took = duration_ms === null || duration_ms < 100 ? '' : `${(duration_ms / 1000).toFixed(1)} s`
  return [ended, took].filter(Boolean).join(', ')
}

/** All parts of an entry that hold something, indented below its line. */
function everything({ thought, tool_input, tool_output, observation }: LogEntry): string[] {
  return Object.entries({ thought, input: tool_input, output: tool_output, observation }).flatMap(
    ([name, part]) => {
      if (part === null) return []
      if (typeof part === 'string') return block(name, part)
      return Object.entries(part).flatMap(([key, value]) =>
        block(`${name}.${key}`, typeof value === 'string' ? value : JSON.stringify(value)),
      )
    },
  )
}

function block(name: string, text: string): string[] {
  const lines = plainText(text).trimEnd().split('\n')
  const label = `     ${plainText(name)}: `
  return lines.length === 1
    ? [`${label}${lines[0]}`]
    : [label.trimEnd(), ...lines.map(line => `       ${line}`)]
}
