import type { FinalOutcome, LostOutcome } from '../../core/runs/outcome.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'

/** How often a turn is continued without a person after it has lost a sandbox or a worker. */
const MAX_RECOVERIES = 3

const maxRecoveries = ({ max_losses }: Pick<WorkerServices, 'max_losses'>) =>
  Math.min(MAX_RECOVERIES, max_losses)

/**
 * Requeues a run whose sandbox ended, or whose git or agent was killed, as after a lost worker: the next
 * worker closes what is open in the journal and continues from the last checkpoint. False: the run must end,
 * because it ran out of memory, lost too much, or a person stops or pauses it.
 */
export async function recoverLost(
  deps: Pick<WorkerServices, 'max_losses'>,
  writer: RunWriter,
  lost: LostOutcome,
): Promise<boolean> {
  if (lost.kind === 'sandbox_lost' && lost.out_of_memory) return false
  const message = `${lost.message} The run continues in a new sandbox from its last checkpoint.`
  const code = lost.kind === 'killed' ? lost.code : lost.kind
  const entries = [errorEntry({ code, message, retryable: true, phase: 'sandbox' })]
  return writer.change({
    from: ['starting', 'running'],
    to: 'queued',
    because: 'sandbox_lost',
    only: 'not_pausing',
    losses_below: maxRecoveries(deps),
    entries,
  })
}

/**
 * Returns the outcome of a turn that is not recovered once more: a lost sandbox pauses the run, and its files
 * are kept.
 */
export function notRecovered(deps: Pick<WorkerServices, 'max_losses'>, lost: LostOutcome): FinalOutcome {
  const not_continued = `The run was not continued automatically: a turn is continued ${maxRecoveries(deps)} times at most.`
  if (lost.kind === 'killed')
    return {
      kind: 'failed',
      reason: 'agent_error',
      code: lost.code,
      message: `${lost.message} ${not_continued}`,
      phase: 'agent',
    }
  const why = lost.out_of_memory ? 'It used up its memory, so it was not restarted.' : not_continued
  const message = `${lost.message} ${why} Its files are kept: resume the run to continue.`
  return { kind: 'paused', reason: 'sandbox_lost', message }
}
