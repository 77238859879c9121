import { errorText } from './log.ts'
import type { WorkerDeps } from '../worker/settings.ts'

/** Does `work` every so often, never twice at once; a failure is logged and tried again. Call the result to end it. */
export function repeat(
  ms: number,
  what: string,
  work: () => Promise<void>,
  log: WorkerDeps['log'],
  first: 'later' | 'at once' = 'later',
): () => void {
  let running = false
  let ended = false
  const tick = () => {
    if (running) return
    running = true
    work()
      .catch(error => {
        // What is cut off by the end of the process is no failure.
        if (!ended) log('error', `${what} failed; it is tried again`, { error: errorText(error) })
      })
      .finally(() => {
        running = false
      })
  }
  if (first === 'at once') tick()
  const timer = setInterval(tick, ms)
  return () => {
    ended = true
    clearInterval(timer)
  }
}
