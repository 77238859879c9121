import { markSuspect } from '../../git/mirrors/mirror-refs.ts'
import { onEnvironmentCommand, onTemplateCommand, TEMPLATE_DAMAGED } from '../../git/workspace/template-commands.ts'
import { cloneCommand, switchCommand, type WorkspaceRepository } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { type Base, StartError } from './base.ts'

export const MIRROR_INSIDE = '/mirror'
const CLONE_OUTPUT = 16 * 1024

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

/** Runs a command of ours in the run's sandbox; its output as it can be shown. */
export async function runInWorkspace(deps: WorkerDeps, sandbox: Sandbox, command: string, signal: AbortSignal) {
  const timeout_ms = deps.git_limits.clone_ms
  const result = await sandbox.exec({ command, shell: 'separate', timeout_ms, max_output_bytes: CLONE_OUTPUT, signal })
  const status: 'ok' | 'error' = result.status === 'exited' && result.exit_code === 0 ? 'ok' : 'error'
  const text = Buffer.from(result.output).toString('utf8').trim()
  return { ...result, status, ended: result.status, output: text }
}

/**
 * A workspace that cannot be switched is worked in as it is: what is pushed is a commit, whatever its branch is called inside. Answers where
 * its ACTION stands.
 */
export async function switchBranch(
  deps: WorkerDeps,
  writer: RunWriter,
  sandbox: Sandbox,
  base: Base,
  from_sha: string,
  to_sha: string,
  signal: AbortSignal,
): Promise<number> {
  const { status, exit_code, output, duration_ms } = await runInWorkspace(
    deps,
    sandbox,
    switchCommand({ branch: base.branch, from_sha, to_sha }),
    signal,
  )
  const entry = serviceAction('git_checkout', { branch: base.branch, sha: to_sha }, { status, exit_code, output }, duration_ms)
  return (await writer.append({ entries: [entry] })).total_logs
}

/**
 * What the files of a workspace are a copy of already: the template of the commit, or an environment that was made at `made_at_sha`; `told`: the
 * trace has that clone.
 */
export type CopyOf = { template: string; made_at_sha: string | null; told: boolean }

type Cloning = { deps: WorkerDeps; writer: RunWriter; sandbox: Sandbox; copy_of: CopyOf | null; signal: AbortSignal }

/** Writes the ACTION of the clone, and answers where it stands. Throws StartError. */
export async function clone({ deps, writer, sandbox, copy_of, signal }: Cloning, base: Base, sha: string): Promise<number> {
  const repository = { ...workspaceRepository(deps, base, sha), base_sha: sha }
  const { template, made_at_sha } = copy_of ?? { template: null, made_at_sha: null }
  const command =
    made_at_sha !== null
      ? onEnvironmentCommand({ ...repository, made_at_sha })
      : template === null
        ? cloneCommand(repository)
        : onTemplateCommand(repository)
  const { status, exit_code, output, duration_ms, ended } = await runInWorkspace(deps, sandbox, command, signal)
  const input = { repository: base.repository.url, base_ref: base.ref, sha, branch: base.branch }
  const entry = serviceAction('git_clone', input, { status, exit_code, output }, duration_ms)
  const known = copy_of?.told === true && made_at_sha === sha && status === 'ok'
  const { total_logs } = await writer.append({ entries: known ? [] : [entry] })
  if (template !== null && made_at_sha === null && output.includes(TEMPLATE_DAMAGED)) deps.templates.discard(template)
  if (status === 'ok' || signal.aborted) return total_logs
  // It may be the mirror that is broken: the next refresh looks into it.
  await markSuspect(deps.git, base.repository.id)
  if (ended === 'timeout')
    throw new StartError(
      'setup_failed',
      'clone_timeout',
      `The clone into the sandbox took longer than ${deps.git_limits.clone_ms / 1000} s.`,
    )
  throw new StartError('setup_failed', 'clone_failed', `The clone into the sandbox failed: ${output.slice(-500) || ended}`)
}
