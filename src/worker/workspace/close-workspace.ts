import type { TurnOutcome } from '../../core/runs/outcome.ts'
import type { Workspace } from './workspace.ts'

/** How long an end waits until the last checkpoint is stored. */
export const FINISH_MS = 10_000
const STOP_MS = 1_000
/** Shorter than the time that a worker has to release a run that pauses. */
const PAUSE_MS = 5_000

/**
 * `workspace` is set once something needs the run's files, `current` when they are open; none is opened after
 * the turn has ended.
 */
export type OpenedWorkspace = { workspace?: Promise<Workspace>; current: Workspace | null; ended: boolean }

/**
 * Stops the sandboxes and stores the last checkpoint before the outcome can be read: then no process of the
 * run is left.
 */
export async function closeWorkspace(opened: OpenedWorkspace, outcome: TurnOutcome): Promise<void> {
  const workspace = await opened.workspace?.catch(() => null)
  if (!workspace) return
  await workspace.sandbox.stop()
  if (outcome.kind !== 'lost') await workspace.reportBlocked()
  if (outcome.kind !== 'lost') await workspace.checkpoints.finish(timeoutOf(outcome))
  await workspace[Symbol.asyncDispose]()
}

function timeoutOf(outcome: TurnOutcome): number {
  if (outcome.kind === 'stop') return STOP_MS
  return outcome.kind === 'paused' && outcome.reason === 'user_request' ? PAUSE_MS : FINISH_MS
}
