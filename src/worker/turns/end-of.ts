import { isDatabaseAway } from '../../core/database-away.ts'
import { GitError } from '../../git/process/git-error.ts'
import { SandboxError, SandboxLostError } from '../../sandbox/port.ts'
import { StartError } from '../base/base.ts'
import type { Control, EndReason } from '../claim/control.ts'
import { FencedError } from '../claim/fencing.ts'
import { DISK_FULL, isDiskFull } from '../sandbox/disk-full.ts'

/** What a turn ends as whose control was told to. */
export function endOfControl(control: Control): EndReason {
  return control.reason ?? (control.leaving ? { kind: 'shutdown' } : { kind: 'stop' })
}

/** What a turn ends as in which this was thrown. */
export function endOf(error: unknown, control: Control): EndReason {
  // What was asked of a database that is away may have been done: whoever goes on when the lease has ended reads the journal.
  if (error instanceof FencedError || isDatabaseAway(error)) return { kind: 'lost' }
  if (control.signal.aborted) return endOfControl(control)
  if (error instanceof StartError)
    return { kind: 'failed', reason: error.reason, code: error.code, message: error.message, phase: error.phase, tool_name: toolOf(error) }
  // A change that is too large or broken for git on the host: it fails its turn and nothing else.
  if (error instanceof GitError) {
    const reason = error.retryable ? 'git_unavailable' : 'agent_error'
    return { kind: 'failed', reason, code: `git_${error.code}`, message: `Git failed on the host: ${error.message}`, phase: 'push' }
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
  if (isDiskFull(error)) return { kind: 'failed', reason: 'disk_quota', code: DISK_FULL, message: String(error), phase: 'workspace' }
  return {
    kind: 'failed',
    reason: 'agent_error',
    code: 'internal',
    message: 'Something went wrong on our side; the service log has the details.',
    phase: 'agent',
  }
}

/** The action of the trace in which the start failed. */
function toolOf({ reason, code }: StartError): string | null {
  if (reason === 'git_unavailable' || code === 'clone_failed') return 'git_clone'
  return code.startsWith('setup_') ? 'setup_command' : null
}
