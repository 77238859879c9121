import { actionTool } from '../../contract/runs/action-tools.ts'
import { isDatabaseAway } from '../../core/database-away.ts'
import type { TurnOutcome } from '../../core/runs/outcome.ts'
import { GitError } from '../../git/process/git-error.ts'
import { SandboxError, SandboxLostError } from '../../sandbox/port.ts'
import { StartError } from '../base/start-error.ts'
import type { Control } from '../claim/control.ts'
import { FencedError } from '../claim/fenced-error.ts'
import { KilledProgram } from '../claim/killed-program.ts'
import { DISK_FULL, isDiskFull } from '../sandbox/disk-full.ts'

/** Returns the outcome of a turn in which `error` was thrown. */
export function outcomeOfError(error: unknown, control: Control): TurnOutcome {
  // A statement may have succeeded although the database is unavailable: the next worker reads the journal.
  if (error instanceof FencedError || isDatabaseAway(error)) return { kind: 'lost' }
  if (control.signal.aborted) return { kind: 'stop' }
  if (error instanceof StartError)
    return {
      kind: 'failed',
      reason: error.reason,
      code: error.code,
      message: error.message,
      phase: error.phase,
      tool_name: toolOf(error),
    }
  if (error instanceof KilledProgram) return { kind: 'killed', code: error.code, message: error.message }
  if (error instanceof GitError && error.code === 'killed')
    return { kind: 'killed', code: 'git_killed', message: `Git was killed on the host: ${error.message}.` }
  // A change that is too large or broken for git on the host fails its turn and nothing else.
  if (error instanceof GitError) {
    const reason = error.retryable ? 'git_unavailable' : 'agent_error'
    return {
      kind: 'failed',
      reason,
      code: `git_${error.code}`,
      message: `Git failed on the host: ${error.message}`,
      phase: 'push',
    }
  }
  if (error instanceof SandboxLostError)
    return {
      kind: 'sandbox_lost',
      message: `The sandbox ended while the run used it: ${error.message}.`,
      out_of_memory: error.out_of_memory,
    }
  if (error instanceof SandboxError)
    return {
      kind: 'failed',
      reason: 'setup_failed',
      code: 'sandbox_failed',
      message: `The sandbox failed: ${error.message}`,
      phase: 'sandbox',
    }
  if (isDiskFull(error))
    return {
      kind: 'failed',
      reason: 'disk_quota',
      code: DISK_FULL,
      message: String(error),
      phase: 'workspace',
    }
  return {
    kind: 'failed',
    reason: 'agent_error',
    code: 'internal',
    message: 'The service failed internally; its log has the details.',
    phase: 'agent',
  }
}

/** The name of the ACTION in which the start failed. */
function toolOf({ reason, code }: StartError): string | null {
  if (reason === 'git_unavailable' || code === 'clone_failed') return actionTool.git_clone
  return code.startsWith('setup_') ? actionTool.setup_command : null
}
