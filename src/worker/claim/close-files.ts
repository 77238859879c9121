import type { End } from '../turns/end-turn.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** How long an end waits until the last checkpoint is stored. */
export const FINISH_MS = 10_000
const STOP_MS = 1_000
/** Shorter than what a worker has to let go of a run that is to pause. */
const PAUSE_MS = 5_000

/** The run's workspace once somebody asked for it, and `current` when it is there; none is opened after the turn has ended. */
export type Opened = { workspace?: Promise<Workspace>; current: Workspace | null; ended: boolean }

/** The sandboxes go before the end can be read: then no process of the run is left, and what it made of its files is kept. */
export async function closeFiles(opened: Opened, end: End): Promise<void> {
  const workspace = await opened.workspace?.catch(() => null)
  if (!workspace) return
  await workspace.sandbox.stop()
  if (end.kind !== 'lost') await workspace.tellBlocked()
  if (end.kind !== 'lost') await workspace.checkpoints.finish(patienceOf(end))
  await workspace[Symbol.asyncDispose]()
}

function patienceOf(end: End): number {
  if (end.kind === 'stop') return STOP_MS
  return end.kind === 'paused' && end.reason === 'user_request' ? PAUSE_MS : FINISH_MS
}
