import { errorText } from '../core/log.ts'
import type { WorkerDeps } from './settings.ts'

/** Does `work` every so often, never twice at once; a failure is logged and tried again. Call the result to end it. */
export function repeat(ms: number, what: string, work: () => Promise<void>, log: WorkerDeps['log']): () => void {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    work()
      .catch(error => log('error', `${what} failed; it is tried again`, { error: errorText(error) }))
      .finally(() => {
        running = false
      })
  }, ms)
  return () => clearInterval(timer)
}
