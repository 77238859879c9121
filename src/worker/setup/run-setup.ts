import { actionTool } from '../../contract/runs/action-tools.ts'
import { setupVariables, UNATTENDED, withProxyEnv } from '../../core/sandbox-environment.ts'
import { Quote } from '../../core/secrets/quote.ts'
import type { ExecResult, Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { StartError } from '../base/start-error.ts'
import type { Templates } from '../base/templates.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { Identities } from '../claim/record-sandboxes.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openEgress } from '../sandbox/egress-of-run.ts'
import { startRecorded } from '../sandbox/recorded-sandbox.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import { runVisibleCommand } from '../sandbox/visible-command.ts'
import type { WorkerServices } from '../services.ts'

/**
 * How the workspaces of a repository are prepared (specification.md#setup-and-analysis). `digest`: of the
 * commands and their variables.
 */
export type Setup = {
  commands: string[]
  /** Run in an environment that was created at another commit. */
  maintenance: string[]
  variables: Record<string, string>
  on_failure: 'fail' | 'continue'
  timeout_ms: number
  digest: string
}
export type SetupFailure = { command: string; why: string }

/**
 * Whose files the commands run on. On those of the `repository`, as it was cloned, they have all secrets and
 * the network of a setup. On those of the `agent`, which it may have prepared for them, they have what the
 * agent has.
 */
export type FilesOf = 'repository' | 'agent'

/** What the commands are run for, other than preparing the workspace of the agent. */
export type Purpose =
  | 'checks'
  | 'maintenance'
  | `attempt ${number}`
  | `the line that fails in attempt ${number}`

export type RunSetupInput = {
  deps: Pick<
    WorkerServices,
    | 'db'
    | 'log'
    | 'git'
    | 'git_limits'
    | 'author'
    | 'driver'
    | 'sandbox_limits'
    | 'host'
    | 'egress'
    | 'sealer'
    | 'users'
  > & { templates: Pick<Templates, 'discard'> }
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  setup: Setup
  files_of: FilesOf
  secrets: RunSecrets
  /** What the agent's sandbox shows, without its variables and its egress. */
  shown: Pick<SandboxSpec, 'workspace' | 'home' | 'within' | 'read_only'>
  /** Records the sandboxes that are running, so that the next worker can end them. */
  started(identities: Identities): Promise<void>
  signal: AbortSignal
  /** Part of the entries in the trace; absent: for the agent. */
  purpose?: Purpose
  /** Called after each command. */
  ended?(command: EndedCommand): void
}
/** `why`: why it failed, or null; `seq`: of its ACTION. */
export type EndedCommand = { n: number; why: string | null; output: string; result: ExecResult; seq: number }

const SHOWN_CHARS = 1_000

/**
 * Runs the commands in sequence in a sandbox of their own, which ends with all that they started. Each is an
 * entry of the trace.
 */
export async function runSetup(to: RunSetupInput): Promise<SetupFailure[]> {
  const { deps, writer, live, run, files_of, shown, started } = to
  await writer.change({ from: ['starting'], to: 'starting', phase: 'setup' })
  const own = await variablesOf(to)
  await using stack = new AsyncDisposableStack()
  const purpose = files_of === 'repository' ? 'setup' : 'agent'
  const egress = stack.use(
    await openEgress(deps, writer, live, { repository_id: run.repository_id, purpose, gateway: null }),
  )
  const environment = { ...UNATTENDED, ...withProxyEnv(own, egress.environment) }
  const sandbox = stack.use(
    await startRecorded(deps, writer, 'setup', { ...shown, environment, sockets: egress.sockets }),
  )
  await started([sandbox.identity])
  try {
    return await runAll(to, sandbox)
  } finally {
    await sandbox.stop()
    await egress.reportBlocked()
  }
}

async function variablesOf({
  deps,
  writer,
  setup,
  files_of,
  secrets,
  purpose,
}: RunSetupInput): Promise<Record<string, string>> {
  const trusted = files_of === 'repository'
  const given = trusted ? setupVariables(secrets.secrets) : secrets.environment
  const names = Object.keys(given)
  const input = { for: purpose === 'checks' ? 'setup of checks' : 'setup' }
  if (trusted && names.length > 0)
    await writer.append({
      entries: [serviceAction(actionTool.sandbox_secrets, input, { status: 'ok', names }, 0)],
    })
  // All package managers pass this name on; npm warns about it every time, so agents do not get it.
  const { node_folder } = deps.driver
  return { ...(node_folder !== null && { npm_config_nodedir: node_folder }), ...setup.variables, ...given }
}

async function runAll(to: RunSetupInput, sandbox: Sandbox): Promise<SetupFailure[]> {
  const { writer, setup, files_of, signal } = to
  const failures: SetupFailure[] = []
  const trusted = files_of === 'repository'
  const until = performance.now() + setup.timeout_ms
  for (const [i, command] of setup.commands.entries()) {
    const { why, output } = await runOne(to, sandbox, {
      command,
      n: i + 1,
      timeout_ms: Math.max(1, until - performance.now()),
    })
    signal.throwIfAborted()
    if (why === null) continue
    const shown = await new Quote(command, SHOWN_CHARS).shown(text => writer.redactor.text(text))
    failures.push({
      command: shown,
      why: trusted ? why : `${why}; it had neither the secrets nor the network of a setup`,
    })
    const timed_out = performance.now() >= until
    // A run that has already worked does not fail for what its commands lack.
    if (trusted && setup.on_failure === 'fail') {
      const last = output.trimEnd().split('\n').at(-1)?.slice(0, SHOWN_CHARS)
      const message = `Setup command ${i + 1} of ${setup.commands.length} ${why}: ${shown}${last ? `\n${last}` : ''}`
      throw new StartError(
        'setup_failed',
        timed_out ? 'setup_timeout' : 'setup_command_failed',
        message,
        'setup',
      )
    }
    if (timed_out) break
  }
  return failures
}

async function runOne(
  to: RunSetupInput,
  sandbox: Sandbox,
  { command, n, timeout_ms }: { command: string; n: number; timeout_ms: number },
): Promise<{ why: string | null; output: string }> {
  const { writer, setup, files_of, purpose, ended } = to
  const call = { call_id: `setup-${n}`, tool_name: actionTool.setup_command, input: { command } }
  const { result, output } = await runVisibleCommand(to, { ...call, command, timeout_ms }, use =>
    use(sandbox),
  )
  const why = failureOf(result, setup)
  const input = {
    command,
    n,
    of: setup.commands.length,
    ...(files_of === 'agent' && { as: 'agent' }),
    ...(purpose && { for: purpose }),
  }
  const status = why === null ? { status: 'ok' } : { status: 'error', error: why }
  const shown = { ...status, exit_code: result.exit_code, output, truncated: result.truncated }
  const { total_logs } = await writer.append({
    entries: [serviceAction(actionTool.setup_command, input, shown, result.duration_ms)],
  })
  ended?.({ n, why, output, result, seq: total_logs })
  return { why, output }
}

/** Null: it did not fail. */
function failureOf({ status, exit_code, memory_kills }: ExecResult, { timeout_ms }: Setup): string | null {
  if (status === 'timeout')
    return `was not done when the ${Math.round(timeout_ms / 1000)} s of the setup were over`
  if (status === 'output_limit') return 'wrote more output than it may'
  if (status === 'disk_limit') return 'filled the workspace beyond its limit'
  if (status === 'interrupted') return 'was interrupted'
  if (exit_code === 0) return null
  return `failed with exit code ${exit_code}${memory_kills > 0 ? ', after its memory was used up' : ''}`
}
