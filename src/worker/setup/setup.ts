import { actionTool } from '../../contract/runs/action-tools.ts'
import { setupDigest } from '../../core/repositories/prepared-environment.ts'
import {
  afterSetupCommand,
  beforeSetupCommand,
  leaveOutCommand,
  parseAfterSetup,
} from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { lastSetUp } from '../../store/runs/journal.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { getSetupCommands } from '../../store/workspaces/setup-commands.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { runInWorkspace } from '../base/checkout.ts'
import type { WorkerServices } from '../services.ts'
import { type RunSetupInput, runSetup, type Setup, type SetupFailure } from './run-setup.ts'

/** Maximum size of the names of created files; those beyond it are part of the change. */
const NAMES_BYTES = 64 * 1024
const MAX_SHOWN = 50

/**
 * Returns the setup commands of the run's repository with what they need. Null: it has none, or the run has
 * no repository.
 */
export async function setupOf(
  deps: Pick<WorkerServices, 'db' | 'setup_ms'>,
  run: RunRow,
): Promise<Setup | null> {
  if (run.repository_id === null) return null
  const row = await getSetupCommands(deps.db, run.organization_id, run.repository_id)
  if (row === undefined || row.commands.length === 0) return null
  const { commands, variables } = row
  return {
    commands,
    maintenance: row.maintenance_commands,
    variables,
    on_failure: row.on_failure,
    timeout_ms: Math.min(row.timeout_seconds * 1000, deps.setup_ms),
    digest: setupDigest(commands, JSON.stringify(variables)),
  }
}

/**
 * `known`: what earlier workers left out; `failed`: what failed while the environment of the workspace was
 * created; `sandbox`: the agent's, in which nothing of the agent runs yet.
 */
export type SetupInput = RunSetupInput & {
  known: readonly string[]
  failed?: readonly SetupFailure[]
  sandbox: Sandbox
}

/**
 * `left_out`: paths in the workspace that belong to the environment and neither to the run's change nor to
 * its checkpoints.
 */
export type SetupResult = { failures: SetupFailure[]; left_out: string[] }

/**
 * Prepares workspace and home folder. Files that the commands create beside the repository's own are left out
 * of the change and of checkpoints: they are recreated where they are missing. Changes of the repository's
 * own files are shown in the trace, because they become part of the change. Throws StartError, SandboxError,
 * and rejects soon after `signal`.
 */
export async function setUp(to: SetupInput): Promise<SetupResult> {
  const { deps, writer, known, sandbox, signal, failed = [] } = to
  await runInWorkspace(deps, sandbox, beforeSetupCommand(), signal)
  const failures = [...failed, ...(await runSetup(to))]
  const bounds = { timeout_ms: deps.git_limits.clone_ms, max_output_bytes: NAMES_BYTES, signal }
  const { exit_code, output, truncated, duration_ms } = await sandbox.exec({
    command: afterSetupCommand(),
    shell: 'separate',
    ...bounds,
  })
  const { created, changed } = parseAfterSetup(output, truncated ? Math.ceil(NAMES_BYTES / 2) : null)
  await leaveOut(deps, sandbox, created, signal)
  const left_out = [...new Set([...known, ...created])]
  const shown = {
    status: exit_code === 0 ? 'ok' : 'error',
    changed: changed.slice(0, MAX_SHOWN),
    left_out: created.slice(0, MAX_SHOWN),
  }
  const entry = serviceAction(actionTool.setup_changes, {}, shown, duration_ms)
  await writer.append({
    records: [setUpRecord(left_out, to.purpose === 'checks' ? undefined : failures)],
    entries: exit_code !== 0 || changed.length + created.length > 0 ? [entry] : [],
  })
  return { failures, left_out }
}

/** `failures`: of the workspace of the agent; absent: the setup was for others. */
export const setUpRecord = (left_out: readonly string[], failures: readonly SetupFailure[] | undefined) => ({
  kind: 'set_up' as const,
  key: null,
  body: JSON.stringify({ left_out, failed: failures?.map(({ command }) => command) }),
})

/** Makes the workspace's git ignore these paths. A workspace that is restored needs it again. */
export async function leaveOut(
  deps: Pick<WorkerServices, 'git_limits'>,
  sandbox: Sandbox,
  left_out: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (left_out.length > 0) await runInWorkspace(deps, sandbox, leaveOutCommand(left_out), signal)
}

/** Returns the paths that an earlier setup of the run left out. */
export async function leftOutBySetup({ db }: Pick<WorkerServices, 'db'>, run: RunRow): Promise<string[]> {
  return (await lastSetUp(db, run.organization_id, run.id)) ?? []
}
