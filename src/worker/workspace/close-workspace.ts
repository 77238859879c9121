import type { End } from '../../core/runs/outcome.ts'
import type { Workspace } from './workspace.ts'

/** How long an end waits until the last checkpoint is stored. */
export const FINISH_MS = 10_000
const STOP_MS = 1_000
/** Shorter than the time that a worker has to release a run that pauses. */
const PAUSE_MS = 5_000

/** `workspace` is set once something needs the run's files, `current` when they are open; none is opened after the turn has ended. */
export type Opened = { workspace?: Promise<Workspace>; current: Workspace | null; ended: boolean }

/** Stops the sandboxes and stores the last checkpoint before the end can be read: then no process of the run is left. */
export async function closeWorkspace(opened: Opened, end: End): Promise<void> {
  const workspace = await opened.workspace?.catch(() => null)
  if (!workspace) return
  await workspace.sandbox.stop()
  if (end.kind !== 'lost') await workspace.reportBlocked()
  if (end.kind !== 'lost') await workspace.checkpoints.finish(timeoutOf(end))
  await workspace[Symbol.asyncDispose]()
}

function timeoutOf(end: End): number {
  if (end.kind === 'stop') return STOP_MS
  return end.kind === 'paused' && end.reason === 'user_request' ? PAUSE_MS : FINISH_MS
}
