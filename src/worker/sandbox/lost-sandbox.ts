import { notifyClaimable } from '../../store/notify.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { requeueLostSandbox } from '../../store/runs/run-moves.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { EndReason } from '../claim/end.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { DatabaseDeps, WaitDeps } from '../deps.ts'

type LostSandbox = Extract<EndReason, { kind: 'sandbox_lost' }>

/** How often a turn is continued without a person after it has lost a sandbox or a worker. */
const MAX_RECOVERIES = 3

const maxRecoveries = ({ max_losses }: Pick<WaitDeps, 'max_losses'>) => Math.min(MAX_RECOVERIES, max_losses)

/**
 * Requeues a run whose sandbox ended, as after a lost worker: the next worker closes what is open in the journal and continues from the last
 * checkpoint. False: the run must pause, because it ran out of memory, lost too many sandboxes, or a person stops or pauses it.
 */
export async function recoverLostSandbox(
  deps: DatabaseDeps & Pick<WaitDeps, 'max_losses'>,
  writer: RunWriter,
  { message, out_of_memory }: LostSandbox,
): Promise<boolean> {
  if (out_of_memory) return false
  const text = `${message} The run continues in a new one from its last checkpoint.`
  const entries = [errorEntry({ code: 'sandbox_lost', message: text, retryable: true, phase: 'sandbox' })]
  const recovered = deps.db.transaction(async tx => {
    await writer.append({ entries }, tx)
    if (!(await requeueLostSandbox(tx, writer.organization_id, writer.run_id, writer.epoch, maxRecoveries(deps)))) throw new NotRecovered()
    await insertEvent(tx, writer.organization_id, writer.run_id, 'agent_run.status', { status: 'queued' })
    await notifyClaimable(tx, writer.organization_id, writer.run_id)
    return true
  })
  return recovered.catch(error => {
    if (error instanceof NotRecovered) return false
    throw error
  })
}

class NotRecovered extends Error {}

/** Returns why such a run is paused, and what to do. */
export function whyPaused(deps: Pick<WaitDeps, 'max_losses'>, { out_of_memory }: LostSandbox): string {
  const reason = out_of_memory
    ? 'It used up its memory, so it was not restarted.'
    : `The run was not continued automatically: a turn is continued ${maxRecoveries(deps)} times at most.`
  return `${reason} Its files are kept: resume the run to continue.`
}
