import { actionTool } from '../contract/runs/action-tools.ts'
import { plainOutput } from '../core/pull-requests/failing-excerpt.ts'
import type { Entry } from './finding.ts'

/** Characters of one output, in total. Head and tail are analyzed. */
const OUTPUT_CHARACTERS = 192 * 1024
const LINE_CHARACTERS = 1_000
const COMMAND_CHARACTERS = 2_000

/** A command that ran in a sandbox of the run, or that the service executed for it. */
export type Command = {
  kind: 'agent' | 'setup' | 'check' | 'service'
  agent_run_id: number
  seq: number
  turn: number
  /** The name of the check. */
  name: string | null
  head_sha: string | null
  command: string
  failed: boolean
  status: string
  exit_code: number | null
  lines: string[]
  /** The error that the service reports for it. */
  error: string | null
  memory_kills: number
  duration_ms: number
}

const KINDS: Record<string, Command['kind']> = {
  [actionTool.shell]: 'agent',
  [actionTool.setup_command]: 'setup',
  [actionTool.check]: 'check',
}
/** Tools that work on files, or only produce text: their results are not failures of a sandbox. */
const OTHERS: string[] = [
  ...[actionTool.read, actionTool.write, actionTool.edit, actionTool.apply_patch, actionTool.search],
  ...[actionTool.plan, actionTool.ask, actionTool.finish],
  ...[actionTool.start_run, actionTool.get_run, actionTool.egress_blocked, actionTool.log_analysis],
]

/** Returns null when nothing has run. */
export function commandOf(entry: Entry): Command | null {
  const { tool_name, tool_input, tool_output } = entry
  if (
    entry.message_type !== 'ACTION' ||
    tool_name === null ||
    tool_output === null ||
    OTHERS.includes(tool_name)
  )
    return null
  const kind = KINDS[tool_name] ?? 'service'
  const status = textOf(tool_output.status) ?? 'ok'
  const error = textOf(tool_output.error)
  return {
    kind,
    agent_run_id: entry.agent_run_id,
    seq: entry.seq,
    turn: entry.turn,
    name: kind === 'check' ? textOf(tool_input?.name) : null,
    head_sha: textOf(tool_input?.head_sha),
    command: (textOf(tool_input?.command) ?? tool_name).slice(0, COMMAND_CHARACTERS),
    failed: status !== 'ok' && status !== 'interrupted',
    status,
    exit_code: typeof tool_output.exit_code === 'number' ? tool_output.exit_code : null,
    lines: linesOf(textOf(tool_output.output) ?? error ?? ''),
    error,
    memory_kills: typeof tool_output.memory_kills === 'number' ? tool_output.memory_kills : 0,
    duration_ms: entry.duration_ms ?? 0,
  }
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns lines as a terminal shows them, truncated to a length that can be analyzed. */
export function linesOf(output: string): string[] {
  const half = OUTPUT_CHARACTERS / 2
  const bounded =
    output.length <= OUTPUT_CHARACTERS ? output : `${output.slice(0, half)}\n${output.slice(-half)}`
  return plainOutput(bounded)
    .split('\n')
    .map(line => line.slice(0, LINE_CHARACTERS).trimEnd())
}

const SURROUNDING = /^(?:cd|set|export|source|\.|pushd|mkdir|echo|printf|true|false|exit|:)\b/
/** Returns the commands of a line without their surroundings: directory changes, variables, redirections. */
export function commandParts(command: string): string[] {
  return command
    .split(/\n|&&|\|\||;/)
    .map(part =>
      part
        .replace(/^[\s({!]+|(?<![\s)}])[\s)}]+$/g, '')
        .replace(/^(?:[A-Za-z_]\w*=\S*\s+)+/, '')
        .replace(/^(?:time|sudo|env|exec|command)\s+(?!-)/, '')
        .split(/\s(?:\||\d?>)/, 1)
        .join('')
        .trim()
        .replace(/\s+/g, ' '),
    )
    .filter(part => part !== '')
}

/** Returns the commands that do the work: without directory changes and variables. */
export const workingParts = (command: string): string[] =>
  commandParts(command).filter(part => !SURROUNDING.test(part))

/** Returns the subject of a command: the same for `npm test` and `cd app && CI=1 npm test 2>&1 | tail`. */
export function subjectOf(command: string): string {
  return (workingParts(command).join(' && ') || commandParts(command).join(' && ')).slice(0, 500)
}

/** Programs whose second word is the subcommand, and programs that run others. */
const HAS_SUBCOMMANDS =
  /^(?:npm|pnpm|yarn|npx|bun|deno|go|cargo|git|docker|mvn|gradle|gradlew|pip|pip3|uv|poetry|bundle|composer|dotnet|make)$/
const RUNS_OTHERS = /^(?:node|python[\d.]*|bash|sh|ruby|php|java|perl|env|timeout|xargs)$/

/** Returns the kind of work: `npm test`, `pytest`; for a program that runs others, the command itself. */
export function workOf(command: string): string {
  const subject = subjectOf(command)
  const [first = '', second = '', third = ''] = subject.split(' ')
  const program = first.split('/').at(-1) ?? ''
  if (/^python/.test(program) && second === '-m') return third
  if (RUNS_OTHERS.test(program)) return subject
  return HAS_SUBCOMMANDS.test(program) ? `${program} ${second}` : program
}
