import { errorText, type Log } from './log.ts'

/** `wake`: run it now, or once more when the current run ends. Disposing starts no further run. */
export type Polling = Disposable & { wake(): void }

/**
 * Runs `work` every `ms` and on `wake`, never twice at once. A failure is logged, and the next run comes in
 * its time.
 */
export function startPolling(
  ms: number,
  name: string,
  work: () => Promise<void>,
  log: Log,
  first: 'later' | 'at once' = 'later',
): Polling {
  return poll(
    ms,
    work,
    error => log('error', `${name} failed and will be retried`, { error: errorText(error) }),
    first,
  )
}

/**
 * Does the same for work whose failure needs no report, because it is repeated soon or nothing relies on it.
 */
export const startQuietPolling = (ms: number, work: () => Promise<unknown>): Polling =>
  poll(ms, work, () => {}, 'later')

function poll(
  ms: number,
  work: () => Promise<unknown>,
  failed: (error: unknown) => void,
  first: 'later' | 'at once',
): Polling {
  let running = false
  let again = false
  let ended = false
  const run = () => {
    if (running || ended) return
    running = true
    again = false
    work()
      .catch(error => {
        // A failure because the process shuts down is expected.
        if (!ended) failed(error)
      })
      .finally(() => {
        running = false
        if (again) run()
      })
  }
  const timer = setInterval(run, ms)
  if (first === 'at once') run()
  return {
    wake() {
      again = running
      run()
    },
    [Symbol.dispose]() {
      ended = true
      clearInterval(timer)
    },
  }
}
