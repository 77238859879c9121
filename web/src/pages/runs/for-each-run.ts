import { AgentRunError } from '../../../../src/client/sdk/error.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { pause } from '../../../../src/core/pause.ts'

type Failure = { run: AgentRun; message: string }

/** The wait after a refusal that names none, in milliseconds. */
const DEFAULT_WAIT_MS = 1_000

/**
 * Calls an action for each run, one after the other, and returns the runs for which it failed. Waits where
 * the service limits the rate of requests. `on_progress` gets the number of runs that are done.
 */
export async function forEachRun(
  runs: AgentRun[],
  action: (run: AgentRun) => Promise<unknown>,
  on_progress: (done: number) => void,
): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const [index, run] of runs.entries()) {
    const error = await withinRateLimit(() => action(run))
    if (error !== null)
      failures.push({ run, message: error instanceof Error ? error.message : String(error) })
    on_progress(index + 1)
  }
  return failures
}

/**
 * Returns the error of an action, or null. A refusal because of the rate is not an error: the action is
 * called again.
 */
async function withinRateLimit(action: () => Promise<unknown>): Promise<unknown> {
  while (true) {
    try {
      await action()
      return null
    } catch (error) {
      if (!(error instanceof AgentRunError) || error.status !== 429) return error
      await pause(error.retry_after_ms ?? DEFAULT_WAIT_MS)
    }
  }
}
