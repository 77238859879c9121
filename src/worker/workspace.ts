import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mirrorPath } from '../git/git-host.ts'
import { markSuspect } from '../git/mirror-refs.ts'
import { cloneCommand, switchCommand, type WorkspaceRepository } from '../git/workspace-commands.ts'
import type { Sandbox, SandboxLimits } from '../sandbox/port.ts'
import { adoptWorkspace, createWorkspace } from '../sandbox/workspaces.ts'
import type { RunRow } from '../store/runs.ts'
import { recordWorkspace } from '../store/workspaces.ts'
import { serviceAction } from '../trace/agent-entries.ts'
import { type Base, StartError } from './base.ts'
import type { Claim } from './claim.ts'
import type { WorkerDeps } from './settings.ts'

const MIRROR_INSIDE = '/mirror'
const CLONE_OUTPUT = 16 * 1024

export const sandboxLimits: SandboxLimits = {
  max_processes: 512,
  max_file_bytes: 4 * 1024 ** 3,
  max_tmp_bytes: 512 * 1024 ** 2,
  max_process_bytes: 64 * 1024 ** 3,
}

/**
 * A sandbox with the run's workspace in it: the folder of the turn before where it is still there, otherwise a fresh clone
 * of what the run last committed, or of its base. Writes the ACTION of the clone. Throws StartError.
 */
export async function openWorkspace(deps: WorkerDeps, claim: Claim, run: RunRow, base: Base | null, signal: AbortSignal): Promise<Sandbox> {
  // A frozen owner on this machine may come back: its sandbox must not.
  if (run.sandbox !== null && run.workspace_host === deps.host) await deps.driver.end(run.sandbox)
  const kept = keepWorkspace(deps, claim, run)
  const workspace = kept ?? (await createWorkspace(deps.folders.workspaces, run.id, claim.epoch, deps.users.sandbox))
  const mirror = base === null ? [] : [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const place = { workspace, host: deps.host }
  // Before anything runs in it, and again with its name: whoever comes after us finds both.
  await recordWorkspace(deps.db, run.organization_id, run.id, claim.epoch, { ...place, sandbox: null })
  const sandbox = await deps.driver.start({ workspace, read_only: mirror, limits: sandboxLimits })
  await recordWorkspace(deps.db, run.organization_id, run.id, claim.epoch, { ...place, sandbox: sandbox.identity })
  if (base === null || (kept !== null && base.renewed === null)) return sandbox
  try {
    if (kept === null) await clone(deps, claim, sandbox, base, base.renewed?.start_sha ?? run.head_sha ?? base.sha, signal)
    else if (base.renewed && run.head_sha !== null)
      await switchBranch(deps, claim, sandbox, base, run.head_sha, base.renewed.start_sha, signal)
    return sandbox
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}

/** What git commands inside the workspace need to know of its repository; `base_sha` is the commit they start from. */
export function workspaceRepository(deps: WorkerDeps, base: Base, base_sha: string): WorkspaceRepository {
  return {
    mirror_inside: MIRROR_INSIDE,
    base_sha,
    branch: base.branch,
    origin_url: base.repository.url,
    author_name: deps.author.name,
    author_email: deps.author.email,
  }
}

/** The folder of the turn before, under the name of this owner; null when it is not on this machine any more. */
function keepWorkspace(deps: WorkerDeps, claim: Claim, run: RunRow): string | null {
  if (run.workspace === null || run.workspace_host !== deps.host || !existsSync(run.workspace)) return null
  const workspace = join(deps.folders.workspaces, `${run.id}-${claim.epoch}`)
  adoptWorkspace(run.workspace, workspace)
  return workspace
}

/** A workspace that cannot be switched is worked in as it is: what is pushed is a commit, whatever its branch is called inside. */
async function switchBranch(
  deps: WorkerDeps,
  claim: Claim,
  sandbox: Sandbox,
  base: Base,
  from_sha: string,
  to_sha: string,
  signal: AbortSignal,
): Promise<void> {
  const command = switchCommand({ branch: base.branch, from_sha, to_sha })
  const result = await sandbox.exec({
    command,
    shell: 'separate',
    timeout_ms: deps.git_limits.clone_ms,
    max_output_bytes: CLONE_OUTPUT,
    signal,
  })
  const status = result.status === 'exited' && result.exit_code === 0 ? 'ok' : 'error'
  const output = { status, exit_code: result.exit_code, output: Buffer.from(result.output).toString('utf8').trim() }
  await claim.append({ entries: [serviceAction('git_checkout', { branch: base.branch, sha: to_sha }, output, result.duration_ms)] })
}

async function clone(deps: WorkerDeps, claim: Claim, sandbox: Sandbox, base: Base, sha: string, signal: AbortSignal): Promise<void> {
  const result = await sandbox.exec({
    command: cloneCommand(workspaceRepository(deps, base, sha)),
    shell: 'separate',
    timeout_ms: deps.git_limits.clone_ms,
    max_output_bytes: CLONE_OUTPUT,
    signal,
  })
  const ok = result.status === 'exited' && result.exit_code === 0
  const output = Buffer.from(result.output).toString('utf8').trim()
  const input = { repository: base.repository.url, base_ref: base.ref, sha, branch: base.branch }
  await claim.append({
    entries: [serviceAction('git_clone', input, { status: ok ? 'ok' : 'error', exit_code: result.exit_code, output }, result.duration_ms)],
  })
  if (ok || signal.aborted) return
  // It may be the mirror that is broken: the next refresh looks into it.
  await markSuspect(deps.git, base.repository.id)
  if (result.status === 'timeout')
    throw new StartError(
      'setup_failed',
      'clone_timeout',
      `The clone into the sandbox took longer than ${deps.git_limits.clone_ms / 1000} s.`,
    )
  throw new StartError('setup_failed', 'clone_failed', `The clone into the sandbox failed: ${output.slice(-500) || result.status}`)
}
