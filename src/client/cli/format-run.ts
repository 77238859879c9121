import type { AgentRun } from '../sdk/operations.ts'
import { firstLine, plainText } from './plain-text.ts'
import { columns, type Printer, type Style } from './printer.ts'

const styles: Record<string, Style> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'yellow',
  waiting: 'yellow',
  paused: 'yellow',
  running: 'cyan',
  starting: 'cyan',
}

/** A run that completed without doing everything is not a success. */
const statusStyle = ({ status, status_reason }: Pick<AgentRun, 'status' | 'status_reason'>): Style =>
  /^complete/i.test(status) && status_reason !== null ? 'yellow' : (styles[status.toLowerCase()] ?? 'dim')

/**
 * Returns the status with its known reason: `failed (timeout)`, `starting: clone`, `running: model`, `queued,
 * 2 before it`.
 */
export function statusText(run: AgentRun): string {
  const { status, status_reason, waiting_on, phase, queue_position } = run
  if (status_reason !== null) return `${status} (${status_reason})`
  if (phase !== null) return `${status}: ${waiting_on ?? phase}`
  if (queue_position !== null)
    return queue_position > 1 ? `${status}, ${queue_position - 1} before it` : status
  return waiting_on === null || waiting_on === 'worker' ? status : `${status} (${waiting_on})`
}

/** Returns one line that names a run and its state. */
export const runLine = (run: AgentRun, { style }: Pick<Printer, 'style'>) =>
  `${style('bold', `run ${run.id}`)}  ${style(statusStyle(run), plainText(statusText(run)))}  ${firstLine(run.title, 200)}`

/**
 * Returns a table of runs, newest first as they come. `relationOf`: adds a column with the relation of each.
 */
export function runTable<R extends AgentRun>(
  runs: R[],
  print: Pick<Printer, 'style' | 'width'>,
  now: number,
  relationOf?: (run: R) => string,
): string[] {
  const relation = (text: string) => (relationOf === undefined ? [] : [text])
  const rows = runs.map(run => [
    ...[String(run.id), plainText(statusText(run)), ago(run.created_at, now)],
    ...relation(relationOf?.(run) ?? ''),
    firstLine(run.title, 100),
  ])
  return columns(
    [['ID', 'STATUS', 'CREATED', ...relation('RELATION'), 'TITLE'], ...rows],
    (text, row, column) => {
      const run = runs[row - 1]
      if (run === undefined) return print.style('dim', text)
      return column === 1 ? print.style(statusStyle(run), text) : text
    },
  )
}

/** Returns everything about a run that people need, its answer or error last. */
export function runDetails(run: AgentRun, print: Pick<Printer, 'style'>, now: number): string[] {
  const { usage } = run
  const facts: [string, string | null][] = [
    ['web', run.web_url],
    ['model', `${run.model}, agent ${run.agent_type}`],
    ['repository', run.repo_id === null ? null : `${run.repo_id}`],
    [
      'base',
      run.base_ref === null && run.base_sha === null
        ? null
        : [run.base_ref, run.base_sha?.slice(0, 12)].filter(Boolean).join(' at '),
    ],
    ['branch', run.branch],
    ['tags', run.tags.length === 0 ? null : run.tags.join(', ')],
    [
      'created',
      `${run.created_at}, ${ago(run.created_at, now)}${run.finished_at === null ? '' : `, took ${duration(Date.parse(run.finished_at) - Date.parse(run.created_at))}`}`,
    ],
    ['deadline', run.deadline_at],
    ['trace', `${run.total_logs} entries, turn ${run.turn}`],
    [
      'usage',
      `${usage.input_tokens} tokens in${usage.cached_share === null ? '' : ` (${Math.round(usage.cached_share * 100)} % cached)`}, ${usage.output_tokens} out, ${cost(usage.cost_usd)}, ${duration(usage.active_seconds * 1000)} active${usage.estimated_calls === 0 ? '' : `, ${usage.estimated_calls} calls estimated`}`,
    ],
    ['budget', budgetText(run.budget)],
    ['archived', run.archived ? 'yes' : null],
    ...run.github_pull_requests.map((pull): [string, string] => [
      `pull request`,
      `#${pull.number} ${pull.state}: ${pull.title ?? ''} (${pull.head_branch_name} into ${pull.base_branch_name}, ${pull.files_changed} files, +${pull.additions} -${pull.deletions})${pull.url === null ? '' : ` ${pull.url}`}`,
    ]),
  ]
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [[`  ${name}`, firstLine(value, 2_000)]],
  )
  return [
    runLine(run, print),
    ...columns(rows, (text, _row, column) => (column === 0 ? print.style('dim', text) : text)),
    ...outcomeLines(run),
  ]
}

/** Returns the error or the answer of a run as a paragraph of its own; nothing while there is neither. */
export function outcomeLines({ error, result }: AgentRun): string[] {
  const text = error === null ? result : `${error.code}: ${error.message}`
  return text === '' ? [] : ['', ...plainText(text).trimEnd().split('\n')]
}

/** An unknown price is not 0. */
function cost(usd: string | null): string {
  if (usd === null) return 'cost unknown'
  const value = Number(usd)
  return `$${value === 0 ? '0' : value.toFixed(value < 0.01 ? 4 : 2)}`
}

function budgetText(budget: AgentRun['budget']): string | null {
  const given = Object.entries(budget).filter(([, value]) => value !== null)
  return given.length === 0 ? null : given.map(([name, value]) => `${name} ${value}`).join(', ')
}

/** Returns milliseconds as text for people: `3.2 s`, `4 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns the age of an ISO 8601 time as text for people: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function ago(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`
}
