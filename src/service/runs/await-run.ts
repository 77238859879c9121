import type { RunWait } from '../../contract/mcp/run-wait.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { notifyCancelled } from '../../store/notify.ts'
import type { ActorContext, Context } from '../context.ts'
import { getRun } from './runs.ts'

/** In case a notification was lost. */
const POLL_INTERVAL_MS = 5_000

/**
 * Reads a run at once and after each change, until `isDone` or until `over` aborts. Returns what was read
 * last; rejects when `read` does.
 */
export async function awaitRun<Read>(
  ctx: Context,
  run_id: number,
  over: AbortSignal,
  read: () => Promise<Read>,
  isDone: (run: Read) => boolean,
): Promise<Read> {
  let wake = () => {}
  const onAbort = () => wake()
  const leave = ctx.onRun(ctx.organization_id, run_id, () => wake())
  over.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      // Before the read, so that no change between it and the wait is missed.
      const woken = new Promise<void>(resolve => {
        wake = resolve
      })
      const run = await read()
      if (isDone(run) || over.aborted) return run
      const poll = setTimeout(wake, POLL_INTERVAL_MS)
      await woken
      clearTimeout(poll)
    }
  } finally {
    over.removeEventListener('abort', onAbort)
    leave()
  }
}

const reasonOf = ({ terminal, status, waiting_on }: AgentRun): RunWait['reason'] => {
  if (terminal) return 'ended'
  if (status === 'paused') return 'paused'
  // A run that waits for checks, or whose answer a worker has not taken yet, continues by itself.
  return status === 'waiting' && waiting_on !== null && people.includes(waiting_on) ? 'waiting' : 'timeout'
}
const people: readonly string[] = ['user_input', 'tool_approval']

/**
 * Waits until a run has ended, is paused or waits for a person
 * (decisions.md#wait-ends-where-nothing-proceeds), or until `over` aborts, which is the reason `timeout`.
 * `onRead` receives each state on the way. Throws 404 for an unknown run.
 */
export async function waitForRun(
  ctx: Context,
  run_id: number,
  over: AbortSignal,
  onRead: (run: AgentRun) => void,
): Promise<RunWait> {
  const read = async () => {
    const run = await getRun(ctx, run_id)
    onRead(run)
    return run
  }
  const run = await awaitRun(ctx, run_id, over, read, found => reasonOf(found) !== 'timeout')
  return { reason: reasonOf(run), run }
}

/**
 * Ends the wait of a call, in whichever process it is (`onCancelled` of the services). A call that does not
 * wait is not affected.
 */
export async function cancelWait({ db }: ActorContext, call: string): Promise<void> {
  await notifyCancelled(db, call)
}
