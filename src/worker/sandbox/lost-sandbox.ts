import type { EndReason } from '../../core/runs/outcome.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WaitDeps } from '../deps.ts'

type LostSandbox = Extract<EndReason, { kind: 'sandbox_lost' }>
type Killed = Extract<EndReason, { kind: 'killed' }>

/** How often a turn is continued without a person after it has lost a sandbox or a worker. */
const MAX_RECOVERIES = 3

const maxRecoveries = ({ max_losses }: Pick<WaitDeps, 'max_losses'>) => Math.min(MAX_RECOVERIES, max_losses)

/**
 * Requeues a run whose sandbox ended, or whose git or agent was killed, as after a lost worker: the next worker closes what is open in the journal
 * and continues from the last checkpoint. False: the run must end, because it ran out of memory, lost too much, or a person stops or pauses it.
 */
export async function recoverLost(deps: Pick<WaitDeps, 'max_losses'>, writer: RunWriter, lost: LostSandbox | Killed): Promise<boolean> {
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

/** Returns why a run is not recovered once more. */
export const whyNotContinued = (deps: Pick<WaitDeps, 'max_losses'>): string =>
  `The run was not continued automatically: a turn is continued ${maxRecoveries(deps)} times at most.`

/** Returns why such a run is paused, and what to do. */
export function whyPaused(deps: Pick<WaitDeps, 'max_losses'>, { out_of_memory }: LostSandbox): string {
  const reason = out_of_memory ? 'It used up its memory, so it was not restarted.' : whyNotContinued(deps)
  return `${reason} Its files are kept: resume the run to continue.`
}
