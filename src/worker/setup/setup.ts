import { setupDigest } from '../../core/repositories/prepared-environment.ts'
import { setupVariables, withProxyEnv } from '../../core/sandbox-environment.ts'
import { afterSetupCommand, beforeSetupCommand, leaveOutCommand, parseAfterSetup } from '../../git/workspace/workspace-commands.ts'
import type { ExecResult, Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import { lastSetUp } from '../../store/runs/journal.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { getSetupCommands } from '../../store/workspaces/setup-commands.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { StartError } from '../base/base.ts'
import { runInWorkspace } from '../base/checkout.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openEgress } from '../sandbox/egress.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import { runVisibleCommand } from '../sandbox/visible-command.ts'
import type { WorkerDeps } from '../settings.ts'

/** How the sandbox of a repository's runs is prepared (specification.md#setup-and-analysis). `digest` names it: the same commands with the same variables. */
export type Setup = {
  commands: string[]
  /** Run in what they have prepared at another commit. */
  maintenance: string[]
  variables: Record<string, string>
  on_failure: 'fail' | 'continue'
  timeout_ms: number
  digest: string
}
export type SetupFailure = { command: string; why: string }

/** Of names of what was made; what is beyond it is part of the change. */
const NAMES_BYTES = 64 * 1024
const MOST_SAID = 50
const SHOWN_CHARS = 1_000

/** Null: the run's repository has none, or the run has no repository. */
export async function setupOf(deps: WorkerDeps, run: RunRow): Promise<Setup | null> {
  if (run.repository_id === null) return null
  const row = await getSetupCommands(deps.db, run.organization_id, run.repository_id)
  const commands = JSON.parse(row?.commands ?? '[]') as string[]
  if (row === undefined || commands.length === 0) return null
  const digest = setupDigest(commands, row.variables)
  const variables = JSON.parse(row.variables) as Record<string, string>
  const maintenance = JSON.parse(row.maintenance_commands) as string[]
  return {
    commands,
    maintenance,
    variables,
    on_failure: row.on_failure,
    timeout_ms: Math.min(row.timeout_seconds * 1000, deps.setup_ms),
    digest,
  }
}

/**
 * Whose files the commands run on. On those of the `repository`, as it was cloned, they have all secrets and a way out of their own. On those
 * of the `agent`, which it may have written for them, they have what the agent has.
 */
export type FilesOf = 'repository' | 'agent'

/** What the commands are run for, besides preparing the workspace of the agent. */
export type Purpose = 'checks' | 'maintenance' | `attempt ${number}` | `the line that fails in attempt ${number}`

export type SettingUp = {
  deps: WorkerDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  setup: Setup
  files_of: FilesOf
  secrets: RunSecrets
  /** What owners before have left out. */
  known: readonly string[]
  /** What the agent's sandbox shows, but for its variables and its way out. */
  shown: Pick<SandboxSpec, 'workspace' | 'home' | 'within' | 'read_only'>
  /** Told of the sandbox that the commands run in, so that whoever comes after us can end it. */
  started(identity: string | null): Promise<void>
  /** The agent's, which nothing of the agent runs in yet. */
  sandbox: Sandbox
  signal: AbortSignal
  /** Said in the trace; absent: for the agent. */
  purpose?: Purpose
  /** Told of each command that has ended. */
  ended?(command: EndedCommand): void
}
/** `seq`: where its ACTION stands. */
export type EndedCommand = { n: number; why: string | null; output: string; result: ExecResult; seq: number }

/** What was done. `left_out`: paths in the workspace that are the environment, and no part of what the run changes or of what is kept of it. */
export type SetUp = { failures: SetupFailure[]; left_out: string[] }

/**
 * Prepares workspace and home folder. What the commands make beside the repository's own files is left out of the run's change and of what is
 * kept of its files: it is made again where it is gone. What they change of those files is said in the trace, because it will be part of the
 * change. Throws StartError, SandboxError, and soon after `signal` whatever comes of it.
 */
export async function setUp(to: SettingUp): Promise<SetUp> {
  const { deps, writer, known, sandbox, signal } = to
  await runInWorkspace(deps, sandbox, beforeSetupCommand(), signal)
  const failures = await runSetup(to)
  const looked = { timeout_ms: deps.git_limits.clone_ms, max_output_bytes: NAMES_BYTES, signal }
  const { exit_code, output, truncated, duration_ms } = await sandbox.exec({ command: afterSetupCommand(), shell: 'separate', ...looked })
  const { made, changed } = parseAfterSetup(output, truncated ? Math.ceil(NAMES_BYTES / 2) : null)
  await leaveOut(deps, sandbox, made, signal)
  const left_out = [...new Set([...known, ...made])]
  const said = { status: exit_code === 0 ? 'ok' : 'error', changed: changed.slice(0, MOST_SAID), left_out: made.slice(0, MOST_SAID) }
  const entry = serviceAction('setup_changes', {}, said, duration_ms)
  await writer.append({
    records: [{ kind: 'set_up', key: null, body: JSON.stringify({ left_out }) }],
    entries: exit_code !== 0 || changed.length + made.length > 0 ? [entry] : [],
  })
  return { failures, left_out }
}

/** Has the workspace's git go by it, which is made anew when files are laid out. */
export async function leaveOut(deps: WorkerDeps, sandbox: Sandbox, left_out: readonly string[], signal: AbortSignal): Promise<void> {
  if (left_out.length > 0) await runInWorkspace(deps, sandbox, leaveOutCommand(left_out), signal)
}

/** What an owner of the run has set up before. */
export async function leftOutBySetup({ db }: Pick<WorkerDeps, 'db'>, run: RunRow): Promise<string[]> {
  const body = await lastSetUp(db, run.organization_id, run.id)
  return body === undefined ? [] : (JSON.parse(body) as { left_out: string[] }).left_out
}

/**
 * Runs the commands one after the other in a sandbox of their own, which is gone afterwards with all that they started. Each is an entry of the trace.
 */
export async function runSetup(to: Omit<SettingUp, 'known' | 'sandbox'>): Promise<SetupFailure[]> {
  const { deps, writer, live, run, setup, files_of, secrets, shown, started, purpose } = to
  await writer.move({ from: ['starting'], to: 'starting', phase: 'setup' })
  const trusted = files_of === 'repository'
  const given = trusted ? setupVariables(secrets.secrets) : secrets.environment
  const names = Object.keys(given)
  if (trusted && names.length > 0)
    await writer.append({
      entries: [serviceAction('sandbox_secrets', { for: purpose === 'checks' ? 'setup of checks' : 'setup' }, { status: 'ok', names }, 0)],
    })
  await using stack = new AsyncDisposableStack()
  const egress = stack.use(await openEgress(deps, writer, live, run.repository_id, trusted ? 'setup' : 'agent'))
  // By this name every manager of packages hands it on; npm calls it unknown each time, so that agents are spared it.
  const { node_folder } = deps.driver
  const own = { ...(node_folder !== null && { npm_config_nodedir: node_folder }), ...setup.variables, ...given }
  const environment = withProxyEnv(own, egress.environment)
  const sandbox = stack.use(await startRecorded(deps, writer, 'setup', { ...shown, environment, sockets: egress.sockets }))
  await started(sandbox.identity)
  try {
    return await runAll(to, sandbox)
  } finally {
    await sandbox.stop()
    await egress.tellBlocked()
  }
}

async function runAll(to: Omit<SettingUp, 'known' | 'sandbox'>, sandbox: Sandbox): Promise<SetupFailure[]> {
  const { writer, setup, files_of, signal, purpose, ended } = to
  const failures: SetupFailure[] = []
  const trusted = files_of === 'repository'
  const until = performance.now() + setup.timeout_ms
  for (const [i, command] of setup.commands.entries()) {
    const { result, output } = await runVisibleCommand(
      to,
      {
        ...{ call_id: `setup-${i + 1}`, tool_name: 'setup_command', input: { command } },
        ...{ command, timeout_ms: Math.max(1, until - performance.now()) },
      },
      use => use(sandbox),
    )
    const why = failureOf(result, setup)
    const said = { status: why === null ? 'ok' : 'error', exit_code: result.exit_code, output, truncated: result.truncated }
    const input = { command, n: i + 1, of: setup.commands.length, ...(!trusted && { as: 'agent' }), ...(purpose && { for: purpose }) }
    const { total_logs } = await writer.append({
      entries: [serviceAction('setup_command', input, { ...said, ...(why !== null && { error: why }) }, result.duration_ms)],
    })
    ended?.({ n: i + 1, why, output, result, seq: total_logs })
    signal.throwIfAborted()
    if (why === null) continue
    failures.push({ command: short(command), why: trusted ? why : `${why}; it had neither the secrets nor the network of a setup` })
    const over = performance.now() >= until
    // A run that has got on does not end for what its commands lack.
    if (trusted && setup.on_failure === 'fail') {
      const last = output.trimEnd().split('\n').at(-1)?.slice(0, SHOWN_CHARS)
      const message = `Setup command ${i + 1} of ${setup.commands.length} ${why}: ${short(command)}${last ? `\n${last}` : ''}`
      throw new StartError('setup_failed', over ? 'setup_timeout' : 'setup_command_failed', message, 'setup')
    }
    if (over) break
  }
  return failures
}

const short = (command: string) => (command.length > SHOWN_CHARS ? `${command.slice(0, SHOWN_CHARS)}…` : command)

/** Null: it did not fail. */
function failureOf({ status, exit_code, memory_kills }: ExecResult, { timeout_ms }: Setup): string | null {
  if (status === 'timeout') return `was not done when the ${Math.round(timeout_ms / 1000)} s of the setup were over`
  if (status === 'output_limit') return 'wrote more output than it may'
  if (status === 'disk_limit') return 'filled the workspace beyond what it may hold'
  if (status === 'interrupted') return 'was interrupted'
  if (exit_code === 0) return null
  return `failed with exit code ${exit_code}${memory_kills > 0 ? ', after its memory was used up' : ''}`
}
