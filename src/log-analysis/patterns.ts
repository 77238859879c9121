import { type Command, subjectOf } from './commands.ts'
import { type Finding, finding } from './finding.ts'

const SLOW_MS = 5_000
const MAX_SLOW = 5
const REPEATED = 3
const SHOWN = 80

const short = (command: string) => (command.length > SHOWN ? `${command.slice(0, SHOWN)}…` : command)
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** Returns where the time that a run spent in commands went. */
export function slowestSteps(commands: readonly Command[]): Finding[] {
  const slow = commands
    .filter(({ duration_ms }) => duration_ms >= SLOW_MS)
    .toSorted((a, b) => b.duration_ms - a.duration_ms)
    .slice(0, MAX_SLOW)
  const [first] = slow
  if (first === undefined) return []
  const list = slow
    .map(({ command, duration_ms, seq }) => `${short(command)} ${seconds(duration_ms)} (#${seq})`)
    .join(', ')
  const { agent_run_id, seq } = first
  const entries = slow.slice(1).map(one => one.seq)
  return [
    finding({
      code: 'slowest_steps',
      severity: 'info',
      message: `Slowest: ${list}`,
      agent_run_id,
      seq,
      entries,
      command: first.command,
    }),
  ]
}

/** Returns commands that failed repeatedly in the same way, so that the repetition was useless. */
export function repeatedFailures(commands: readonly Command[]): Finding[] {
  const failed = commands.filter(({ failed }) => failed)
  const groups = Object.values(Object.groupBy(failed, one => `${one.exit_code} ${subjectOf(one.command)}`))
  return groups.flatMap(group => {
    const [first, ...others] = group ?? []
    if (first === undefined || others.length + 1 < REPEATED) return []
    return [
      finding({
        code: 'repeated_failure',
        severity: 'warning',
        message: `The same command failed ${others.length + 1} times: ${short(subjectOf(first.command))}`,
        cause: 'It was run again without what makes it fail having gone.',
        mend: 'Fix the cause of its first failure before it is run again.',
        agent_run_id: first.agent_run_id,
        seq: first.seq,
        entries: others.map(({ seq }) => seq),
        count: others.length + 1,
        command: first.command,
        exit_code: first.exit_code,
      }),
    ]
  })
}

/** The commit that a command ran on, if nothing had been changed since. Null: unknown. */
export type RanOn = { command: Command; on: string; key: string }

/** Returns commands that once passed and once failed on the same files. */
export function flaky(ran: readonly RanOn[]): Finding[] {
  const groups = Object.values(Object.groupBy(ran, ({ key, on }) => `${on}\n${key}`))
  return groups.flatMap(group => {
    const passed = (group ?? []).filter(({ command }) => !command.failed && command.status === 'ok')
    const failed = (group ?? []).filter(({ command }) => command.failed)
    const [first] = failed
    const [good] = passed
    if (first === undefined || good === undefined) return []
    const { agent_run_id, seq } = first.command
    const own = [...failed.slice(1), ...passed].map(one => one.command)
    const elsewhere =
      good.command.agent_run_id === agent_run_id ? `#${good.command.seq}` : `run ${good.command.agent_run_id}`
    return [
      finding({
        code: 'flaky',
        severity: 'warning',
        message: `It failed here and passed in ${elsewhere} on the same files: ${short(first.command.name ?? subjectOf(first.command.command))}`,
        cause:
          'Nothing had changed between: it depends on time, order, chance, the network, or on what an earlier run left.',
        mend: 'Run it alone and several times; check for shared state, ports, clocks and unawaited work.',
        agent_run_id,
        seq,
        entries: own.filter(one => one.agent_run_id === agent_run_id).map(one => one.seq),
        agent_run_ids: [...new Set(own.map(one => one.agent_run_id))].filter(id => id !== agent_run_id),
        count: failed.length,
        command: first.command.command,
        exit_code: first.command.exit_code,
      }),
    ]
  })
}
