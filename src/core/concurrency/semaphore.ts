/** Admits at most `width` callers at a time, in order of arrival. */
export type Semaphore = {
  /** Resolves to the function that releases, or to null when `signal` aborted first. */
  enter(signal?: AbortSignal): Promise<(() => void) | null>
}

/**
 * Returns a semaphore for `width` holders at a time, in the order of their calls. `enter` resolves to null
 * when its signal aborts first.
 */
export function createSemaphore(width: number): Semaphore {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else inside--
  }
  return {
    enter(signal) {
      if (signal?.aborted) return Promise.resolve(null)
      if (inside < width) {
        inside++
        return Promise.resolve(leave)
      }
      return new Promise(resolve => {
        const enter = () => {
          signal?.removeEventListener('abort', abort)
          resolve(leave)
        }
        const abort = () => {
          waiting.splice(waiting.indexOf(enter), 1)
          resolve(null)
        }
        signal?.addEventListener('abort', abort, { once: true })
        waiting.push(enter)
      })
    },
  }
}
