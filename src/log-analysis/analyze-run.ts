import { actionTool } from '../contract/runs/action-tools.ts'
import { findingsOf } from './classify-failure.ts'
import { type Command, commandOf, subjectOf, workOf } from './commands.ts'
import type { Entry, Finding } from './finding.ts'
import { onlyChecksExistence } from './harmless-exits.ts'
import { flaky, type RanOn, repeatedFailures, slowestSteps } from './patterns.ts'
import { refusal } from './refusals.ts'
import { runError } from './run-errors.ts'

/** The run of analyzed entries. */
export type AnalyzedRun = { id: number; repository_id: number | null; base_sha: string | null }
/** `ran`: for the comparison with other runs. */
export type RunAnalysis = { run: AnalyzedRun; findings: Finding[]; ran: RanOn[]; commands: number }

const SEVERITIES = ['error', 'warning', 'info'] as const
/** Errors of a run that follow from a failed command. */
const FOLLOWS = ['run_setup_command_failed', 'run_setup_timeout', 'run_script_failed']
const CHANGES_FILES: string[] = [actionTool.write, actionTool.edit, actionTool.apply_patch]

/**
 * Returns the findings in the entries of one run, the root cause first. `breathe`: awaited between commands,
 * whose outputs may be long.
 */
export async function analyzeRun(
  run: AnalyzedRun,
  entries: readonly Entry[],
  breathe: () => Promise<void>,
): Promise<RunAnalysis> {
  const commands = entries.map(commandOf).filter(one => one !== null)
  const ran = ranOn(run, entries, commands)
  const failures: { command: Command; found: Finding[] }[] = []
  for (const command of commands) {
    const found = findingsOf(command)
    if (found.length === 0) continue
    failures.push({ command, found })
    await breathe()
  }
  const passed = passedLater(commands)
  const from_commands = failures.flatMap(({ command, found }) => withResolution(command, found, passed))
  const refusals = entries.flatMap(entry => refused(entry, commands))
  const errors = entries.map(runError).filter(one => one !== null)
  const patterns = [...repeatedFailures(commands), ...flaky(ran), ...slowestSteps(commands)]
  const findings = grouped(
    ranked([
      ...from_commands,
      ...refusals,
      ...errors.map(error => consequence(error, from_commands)),
      ...patterns,
    ]),
  )
  return { run, findings, ran, commands: commands.filter(({ kind }) => kind !== 'service').length }
}

/**
 * Returns where the same command first succeeded after an entry, and whether a command of the same kind ever
 * did.
 */
type PassedLater = { same(command: Command): number | undefined; work(command: Command): boolean }

const sameness = ({ kind, name, command }: Command) => JSON.stringify([kind, name, subjectOf(command)])

/**
 * One pass: a run may have thousands of commands, and each failure is compared with the commands after it.
 */
function passedLater(commands: readonly Command[]): PassedLater {
  const same = new Map<string, number[]>()
  const work = new Map<string, number>()
  for (const one of commands) {
    if (one.failed || one.status !== 'ok') continue
    const key = sameness(one)
    const before = same.get(key)
    if (before === undefined) same.set(key, [one.seq])
    else before.push(one.seq)
    if (one.kind === 'agent' && !onlyChecksExistence(one.command)) work.set(workOf(one.command), one.seq)
  }
  return {
    same: command => same.get(sameness(command))?.find(seq => seq > command.seq),
    work: command => command.kind === 'agent' && (work.get(workOf(command.command)) ?? 0) > command.seq,
  }
}

/**
 * Lowers the severity of a failure when the same command passed later, or may have been resolved when the
 * same program did.
 */
function withResolution(command: Command, found: Finding[], passed: PassedLater): Finding[] {
  if (!command.failed) return found
  const again = passed.same(command)
  if (again !== undefined)
    return found.map(one => ({
      ...one,
      severity: 'info',
      message: `${one.message} (later it passed: #${again})`,
    }))
  if (!passed.work(command)) return found
  return found.map(one => ({ ...one, severity: one.severity === 'error' ? 'warning' : one.severity }))
}

/**
 * Returns the refusals with the severity of the command that they stopped, which comes after them in the
 * trace.
 */
function refused(entry: Entry, commands: readonly Command[]): Finding[] {
  const found = refusal(entry)
  if (found === null) return []
  const { finding, during, setup } = found
  const next = commands.find(
    one =>
      one.seq > entry.seq &&
      (setup ? one.kind === 'setup' : one.kind !== 'service') &&
      (during === null || one.command.startsWith(during)),
  )
  return [{ ...finding, severity: next?.failed ? 'error' : 'info', command: next?.command ?? during }]
}

/** A run that ends because a command failed is not a second failure. */
function consequence(error: Finding, from_commands: readonly Finding[]): Finding {
  return FOLLOWS.includes(error.code) && from_commands.some(one => one.severity === 'error')
    ? { ...error, severity: 'warning' }
    : error
}

/**
 * Returns the files that each command worked on, where known: a check runs on a commit; the agent's commands
 * on the base as long as nothing was changed, and a command that is repeated immediately on the same files.
 */
function ranOn(
  { id, repository_id, base_sha }: AnalyzedRun,
  entries: readonly Entry[],
  commands: readonly Command[],
): RanOn[] {
  const found: RanOn[] = []
  const changed =
    entries.find(({ tool_name }) => CHANGES_FILES.includes(tool_name ?? ''))?.seq ?? Number.POSITIVE_INFINITY
  let before: Command | null = null
  let streak = 0
  for (const command of commands) {
    const { kind, seq, head_sha, name } = command
    if (kind === 'check' && head_sha !== null)
      found.push({ command, on: `commit ${repository_id} ${head_sha}`, key: `check ${name}` })
    if (kind !== 'agent' || onlyChecksExistence(command.command)) continue
    const same = before !== null && before.command === command.command && !between(entries, before.seq, seq)
    if (!same) streak = seq
    found.push({ command, on: `run ${id} ${streak}`, key: command.command })
    // The first command of an agent sees the files as they were cloned.
    if (before === null && seq < changed && base_sha !== null)
      found.push({ command, on: `base ${repository_id} ${base_sha}`, key: subjectOf(command.command) })
    before = command
  }
  return found
}

const between = (entries: readonly Entry[], from: number, to: number) =>
  entries.some(({ seq, tool_name }) => seq > from && seq < to && CHANGES_FILES.includes(tool_name ?? ''))

export function ranked(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity)
  return findings.toSorted((a, b) => rank(a) - rank(b) || (a.seq ?? 0) - (b.seq ?? 0))
}

/** Merges the same finding of several entries into one, at its first occurrence. */
function grouped(findings: readonly Finding[]): Finding[] {
  const known = new Map<string, Finding>()
  for (const one of findings) {
    const key =
      one.code === 'command_failed'
        ? `${one.code} ${one.severity} ${subjectOf(one.command ?? '')} ${one.exit_code}`
        : `${one.code} ${one.severity} ${one.message}`
    const before = known.get(key)
    if (before === undefined) known.set(key, one)
    else if (one.seq !== null && one.seq !== before.seq && !before.entries.includes(one.seq))
      known.set(key, {
        ...before,
        count: before.count + 1,
        entries: [...before.entries, one.seq].slice(0, 50),
      })
  }
  return [...known.values()]
}
