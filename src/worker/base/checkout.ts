import { actionTool } from '../../contract/runs/action-tools.ts'
import { Quote } from '../../core/secrets/quote.ts'
import { markSuspect } from '../../git/mirrors/mirror-refs.ts'
import {
  onEnvironmentCommand,
  onTemplateCommand,
  TEMPLATE_DAMAGED,
} from '../../git/workspace/template-commands.ts'
import {
  cloneCommand,
  switchCommand,
  type WorkspaceRepository,
} from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { requireGitAlive } from '../claim/killed-program.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import type { Base } from './base.ts'
import { StartError } from './start-error.ts'

export const MIRROR_INSIDE = '/mirror'
const CLONE_OUTPUT = 16 * 1024
const SHOWN_OUTPUT = 1_000

/** `templates`: discards a template whose files are damaged. */
type Deps = Pick<WorkerServices, 'git' | 'git_limits' | 'author'> & {
  templates: { discard(name: string): void }
}

/** A sandbox that shows the run's workspace. */
type InSandbox = { deps: Deps; writer: RunWriter; sandbox: Sandbox; signal: AbortSignal }

/**
 * Returns what git commands inside the workspace need to know of its repository; `base_sha` is the commit
 * they start from.
 */
export function workspaceRepository(
  { author }: Pick<WorkerServices, 'author'>,
  base: Base,
  base_sha: string,
): WorkspaceRepository {
  return {
    mirror_inside: MIRROR_INSIDE,
    base_sha,
    branch: base.branch,
    origin_url: base.repository.url,
    author_name: author.name,
    author_email: author.email,
  }
}

/** The end of what a command of the service printed, or how it ended, for an error that people read. */
export async function shownReason(
  { redactor }: RunWriter,
  { output, ended }: { output: string; ended: string },
): Promise<string> {
  return (await new Quote(output.trim(), SHOWN_OUTPUT, 'end').shown(text => redactor.text(text))) || ended
}

/**
 * Runs a git command of the service in the run's sandbox and returns its output as text. Rejects with
 * KilledProgram.
 */
export async function runInWorkspace(
  deps: Pick<WorkerServices, 'git_limits'>,
  sandbox: Sandbox,
  command: string,
  signal: AbortSignal,
) {
  const timeout_ms = deps.git_limits.clone_ms
  const result = await sandbox.exec({
    command,
    shell: 'separate',
    timeout_ms,
    max_output_bytes: CLONE_OUTPUT,
    signal,
  })
  requireGitAlive(result)
  const status: 'ok' | 'error' = result.status === 'exited' && result.exit_code === 0 ? 'ok' : 'error'
  const text = Buffer.from(result.output).toString('utf8').trim()
  return { ...result, status, ended: result.status, output: text }
}

/** Runs a git command of the service that prepares files in a sandbox. Throws StartError when it fails. */
export async function runOrFail(
  { deps, writer, signal }: Omit<InSandbox, 'sandbox'>,
  sandbox: Sandbox,
  command: string,
): Promise<void> {
  const ran = await runInWorkspace(deps, sandbox, command, signal)
  signal.throwIfAborted()
  if (ran.status === 'ok') return
  throw new StartError(
    'setup_failed',
    'clone_failed',
    `The files could not be prepared: ${await shownReason(writer, ran)}`,
  )
}

/**
 * Switches the workspace to the base's branch and returns the `seq` of the ACTION. A workspace that cannot be
 * switched is used as it is: only the commit matters for the push, not the branch name inside.
 */
export async function switchBranch(
  { deps, writer, sandbox, signal }: InSandbox,
  { branch }: Base,
  { from_sha, to_sha }: { from_sha: string; to_sha: string },
): Promise<number> {
  const ran = await runInWorkspace(deps, sandbox, switchCommand({ branch, from_sha, to_sha }), signal)
  const { status, exit_code, output, duration_ms } = ran
  const entry = serviceAction(
    actionTool.git_checkout,
    { branch, sha: to_sha },
    { status, exit_code, output },
    duration_ms,
  )
  return (await writer.append({ entries: [entry] })).total_logs
}

/**
 * The template that the files of a workspace are a copy of. `made_at_sha`: the commit of the environment that
 * it holds; `recorded`: the trace has that clone already.
 */
export type CopyOf = { template: string; made_at_sha: string | null; recorded: boolean }

/** Clones the repository into the workspace and returns the `seq` of the ACTION. Throws StartError. */
export async function clone(
  to: InSandbox & { copy_of: CopyOf | null },
  base: Base,
  sha: string,
): Promise<number> {
  const { deps, writer, sandbox, copy_of, signal } = to
  const { template, made_at_sha } = copy_of ?? { template: null, made_at_sha: null }
  const command = commandOf({ ...workspaceRepository(deps, base, sha), base_sha: sha }, copy_of)
  const ran = await runInWorkspace(deps, sandbox, command, signal)
  const { status, exit_code, output, duration_ms, ended } = ran
  const input = { repository: base.repository.full_name, base_ref: base.ref, sha, branch: base.branch }
  const entry = serviceAction(actionTool.git_clone, input, { status, exit_code, output }, duration_ms)
  const recorded = copy_of?.recorded === true && made_at_sha === sha && status === 'ok'
  const { total_logs } = await writer.append({ entries: recorded ? [] : [entry] })
  if (template !== null && made_at_sha === null && output.includes(TEMPLATE_DAMAGED))
    deps.templates.discard(template)
  if (status === 'ok' || signal.aborted) return total_logs
  // The mirror may be damaged: the next refresh checks it.
  await markSuspect(deps.git, base.repository.id)
  if (ended === 'timeout')
    throw new StartError(
      'setup_failed',
      'clone_timeout',
      `The clone into the sandbox took longer than ${deps.git_limits.clone_ms / 1000} s.`,
    )
  throw new StartError(
    'setup_failed',
    'clone_failed',
    `The clone into the sandbox failed: ${await shownReason(writer, ran)}`,
  )
}

function commandOf(repository: WorkspaceRepository & { base_sha: string }, copy_of: CopyOf | null): string {
  if (copy_of === null) return cloneCommand(repository)
  const { made_at_sha } = copy_of
  return made_at_sha === null
    ? onTemplateCommand(repository)
    : onEnvironmentCommand({ ...repository, made_at_sha })
}
