import type { Command } from './commands.ts'
import { exitCodeMeaning, exitCodeRemedy } from './exit-codes.ts'
import { failingTests } from './failing-tests.ts'
import { type Finding, finding, type Severity } from './finding.ts'
import { hidesFailure, onlyChecksExistence } from './harmless-exits.ts'
import { type Match, matchSignatures, worded } from './match-signatures.ts'

const MAX_TESTS = 100
const EXCERPT_LINES = 6
const EXCERPT_CHARACTERS = 1_200
const COMMAND_SHOWN = 300
const SOUNDS_WRONG =
  /\b(?:error|fatal|fail(?:ed|ure)?|exception|cannot|can't|unable|not found|refus|invalid|missing)/i

/** Returns the findings of one command, the root cause first; none when it succeeded. */
export function findingsOf(command: Command): Finding[] {
  if (!command.failed) return wellEnded(command)
  const killed = limits(command)
  const reported_codes = new Set(killed.map(({ code }) => code))
  const matches = matchSignatures(command.lines).filter(
    ({ signature }) => !reported_codes.has(signature.code),
  )
  const tests = failing(command, 'error')
  const known = matches.map(match => of(command, 'error', match))
  const only_checks =
    onlyChecksExistence(command.command) && killed.length === 0 && (command.exit_code ?? 0) < 124
  const exit = exitFinding(
    command,
    only_checks || known.length + tests.length + killed.length > 0 ? 'info' : 'error',
  )
  if (only_checks) return [...known.map(one => ({ ...one, severity: 'info' as const })), exit]
  if (
    command.kind === 'agent' &&
    command.exit_code === null &&
    killed.length + known.length + tests.length === 0
  )
    return [exit]
  const before = matches
    .flatMap((match, i) =>
      match.signature.in_tests || match.signature.general || tests.length === 0 ? [] : [known[i]],
    )
    .filter(one => one !== undefined)
  const after = known.filter(one => !before.includes(one))
  // Failed tests are more specific than an error that one of them may have caused; what prevents tests from
  // running is more specific than the tests.
  return [...killed, ...before, ...tests, ...after, exit]
}

/**
 * Errors quoted in documents and sources do not count; those that a command wrote to a file for later may.
 */
const SHOWS_A_LOG = /\.(?:log|out|err|txt|tap|xml|junit)\b|\b(?:logs?|output|results?|report)\b|\/tmp\//i
/** The success message of runners. A passing test that provokes an error may print it. */
const PASSED =
  /\b\d{1,7} (?:tests? )?pass(?:ed|ing)\b|^ok {1,3}\t?\S|^OK\b|test result: ok\.|Failures: 0, Errors: 0|^# fail 0$|\b0 failures\b/

/** A pipe hides the exit code, and a command that succeeded may only have printed a log. */
function wellEnded(command: Command): Finding[] {
  const shown = onlyChecksExistence(command.command)
  if (shown ? !SHOWS_A_LOG.test(command.command) : !hidesFailure(command.command)) return []
  const tests = failing(command, shown ? 'info' : 'warning')
  const passed = tests.length === 0 && command.lines.some(line => PASSED.test(line))
  const known = matchSignatures(command.lines)
    .filter(({ signature }) => !signature.general && !(signature.in_tests && passed))
    .slice(0, 3)
    .map(match => of(command, shown ? 'info' : 'warning', match))
  const note = shown
    ? 'It was printed by a command that only shows files or text.'
    : 'The command itself ended with exit code 0: what follows a pipe hides how it ended.'
  return [...tests, ...known].map(one => ({
    ...one,
    cause: one.cause === null ? note : `${one.cause} ${note}`,
  }))
}

function limits(command: Command): Finding[] {
  const found: Finding[] = []
  const add = (code: string, message: string, cause: string, remedy: string) =>
    found.push(
      finding({
        ...base(command),
        code,
        severity: 'error',
        message,
        cause,
        mend: remedy,
        excerpt: command.error,
      }),
    )
  if (command.memory_kills > 0 || /memory was used up/.test(command.error ?? ''))
    add(
      'out_of_memory',
      'The memory of the sandbox was used up',
      'Its processes took as much memory as they may together, and were killed for it.',
      'Do less at once (fewer jobs and workers), or raise the limits of the sandbox.',
    )
  // Entries of earlier versions have "holds".
  if (/workspace (?:holds|uses|has \d+ files|beyond)|filled the workspace/i.test(command.error ?? ''))
    add(
      'disk_limit',
      'The workspace exceeds its limit',
      'What ran was killed because the workspace was full.',
      'Remove what is not needed (caches, build output), or raise the limits of the sandbox.',
    )
  if (command.status === 'timeout' || /was not done (?:after|when)/.test(command.error ?? ''))
    add(
      'command_timeout',
      'A command ran out of time',
      'It was killed at its time-out: it waits for something that does not come (a prompt, a server, a watcher), or needs longer.',
      'Have it not wait (`CI=1`, `--yes`, no watch mode), or give it more time.',
    )
  if (/wrote more (?:than|output)/.test(command.error ?? ''))
    add(
      'output_limit',
      'A command wrote too much',
      'It was killed for the size of its output.',
      'Have it write less, or into a file.',
    )
  return found
}

function failing(command: Command, severity: Severity): Finding[] {
  const found = failingTests(command.lines)
  if (found === null) return []
  const tests = found.tests.slice(0, MAX_TESTS)
  const [first] = tests
  const more = found.tests.length > 1 ? ` and ${found.tests.length - 1} more` : ''
  const at = first?.location ? ` (${first.location})` : ''
  const message = `${found.tests.length === 1 ? 'A test' : `${found.tests.length} tests`} failed: ${first?.name}${at}${more}`
  const cause = `${found.runner} ran, and these do not pass.`
  const remedy =
    'Start with the first one: its expected and actual values are in the output. The location is as the runner printed it.'
  const named = command.lines.findIndex(
    line => first !== undefined && line.includes(first.name.split(/ > | › /).at(-1) ?? first.name),
  )
  return [
    finding({
      ...base(command),
      code: 'failing_tests',
      severity,
      message,
      cause,
      mend: remedy,
      tests,
      count: found.tests.length,
      excerpt: around(command.lines, Math.max(0, named)),
    }),
  ]
}

function of(command: Command, severity: Severity, { signature, caught, line, text }: Match): Finding {
  const about = caught.find(part => part !== '')
  const message = about === undefined || about.length > 120 ? signature.title : `${signature.title}: ${about}`
  return finding({
    ...base(command),
    code: signature.code,
    severity,
    message,
    cause: worded(signature.cause, caught),
    mend: worded(signature.remedy, caught),
    excerpt: around(command.lines, line) || text,
  })
}

function exitFinding(command: Command, severity: Severity): Finding {
  const { exit_code } = command
  const meaning = exit_code === null ? null : exitCodeMeaning(exit_code)
  const what =
    command.name === null ? short(command.command) : `Check ${command.name} (${short(command.command)})`
  const how =
    exit_code === null
      ? `ended as ${command.status}`
      : `exit code ${exit_code}${meaning ? ` (${meaning})` : ''}`
  return finding({
    ...base(command),
    code: 'command_failed',
    severity,
    message: `${what}: ${how}`,
    cause:
      command.error ?? (meaning ? `Exit code ${exit_code} means: ${meaning}.` : likelyReason(command.lines)),
    mend: exit_code === null ? null : exitCodeRemedy(exit_code),
    excerpt: tail(command.lines) || null,
  })
}

/** When nothing is known: returns the line that looks most like a reason, unchanged. */
function likelyReason(lines: readonly string[]): string | null {
  const words = lines.filter(line => line.trim() !== '')
  const line = words.find(one => SOUNDS_WRONG.test(one)) ?? words.at(-1)
  return line === undefined ? null : `Its output: ${line.trim().slice(0, 300)}`
}

const short = (command: string) => {
  const line = command.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 120)}…` : line
}

const base = ({ agent_run_id, seq, command, exit_code }: Command) => ({
  agent_run_id,
  seq,
  command: command.slice(0, COMMAND_SHOWN),
  exit_code,
})

const joined = (lines: readonly string[]) =>
  lines.join('\n').trim().slice(0, EXCERPT_CHARACTERS).toWellFormed()
const around = (lines: readonly string[], line: number) =>
  joined(lines.slice(Math.max(0, line - 1), line + EXCERPT_LINES - 1))
const tail = (lines: readonly string[]) => joined(lines.filter(line => line !== '').slice(-EXCERPT_LINES))
