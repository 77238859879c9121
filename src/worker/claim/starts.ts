/**
 * A start that waits for something else (setup commands that download, a checkout that another run creates)
 * does not use the processors: after this time it no longer counts.
 */
const MAX_START_MS = 5_000

/** `age`: those with the smallest enter first. */
type WaitingStart = { age: number; enter(): void }

/**
 * Bounds how many runs open their files at once: that is the part of a run which takes the processors
 * (sandboxes, clone), and many beside each other all end late. The oldest run enters first.
 */
export class Starts {
  readonly #width: number
  readonly #max_ms: number
  readonly #waiting: WaitingStart[] = []
  #running = 0

  constructor(width: number, max_ms = MAX_START_MS) {
    this.#width = width
    this.#max_ms = max_ms
  }

  /** Does `work` when it is the turn of a run of this age. Rejects with the reason of an earlier abort. */
  async during<T>(age: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(age, signal)
    const leave = this.#counted()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  #turn(age: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#width) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
      }
      const enter = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const waiting = { age, enter }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.push(waiting)
    })
  }

  /** Returns the function that ends a start, which the time does otherwise: the next one enters, once. */
  #counted(): () => void {
    let counts = true
    const leave = () => {
      clearTimeout(timer)
      if (!counts) return
      counts = false
      this.#running--
      this.#enterNext()
    }
    const timer = setTimeout(leave, this.#max_ms).unref()
    return leave
  }

  #enterNext(): void {
    const oldest = this.#waiting.toSorted((a, b) => a.age - b.age)[0]
    if (oldest === undefined) return
    this.#waiting.splice(this.#waiting.indexOf(oldest), 1)
    this.#running++
    oldest.enter()
  }
}
