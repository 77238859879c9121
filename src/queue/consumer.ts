import { errorText, type Log } from '../core/log.ts'
import { type Polling, startPolling } from '../core/polling.ts'
import { settledWithin } from '../core/timeout.ts'

const POLL_INTERVAL_MS = 1_000
/** How long running attempts may continue when this process shuts down, before they are aborted. */
const SHUTDOWN_GRACE_MS = 1_000
/** How long the shutdown waits for attempts after they were aborted. */
const ABORT_TIMEOUT_MS = 5_000

/** Background work whose rows have the columns of `src/store/queue/queue-table.ts`. */
export type Queue<Item> = {
  /** As log messages have it: "webhooks". */
  name: string
  /** Attempts of one process at a time. */
  concurrency: number
  /** Claims at most `limit` items that are due, for longer than an attempt takes. */
  claim(limit: number): Promise<Item[]>
  /** Makes one attempt and settles the item. Where it rejects, the item is due again when its lease ends. */
  handle(item: Item, signal: AbortSignal): Promise<void>
}

/**
 * Claims and handles the items of a queue until it is disposed of. Every process does, and each attempt
 * belongs to one of them.
 */
export class QueueConsumer<Item> implements AsyncDisposable {
  readonly #queue: Queue<Item>
  readonly #log: Log
  readonly #active = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  readonly #polling: Polling
  #claiming: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(queue: Queue<Item>, log: Log) {
    this.#queue = queue
    this.#log = log
    this.#polling = startPolling(
      POLL_INTERVAL_MS,
      `claiming of ${queue.name}`,
      () => this.#claim(),
      log,
      'at once',
    )
  }

  /** There may be something to handle. */
  wake = (): void => this.#polling.wake()

  #claim(): Promise<void> {
    const claim = async () => {
      const free = this.#queue.concurrency - this.#active.size
      if (free <= 0) return
      for (const item of await this.#queue.claim(free)) this.#begin(item)
    }
    const claiming = claim()
    this.#claiming = claiming.catch(() => {})
    return claiming
  }

  #begin(item: Item): void {
    const attempt: Promise<void> = this.#queue
      .handle(item, this.#stop.signal)
      .catch(error => {
        if (!this.#stopped)
          this.#log('error', `an attempt of ${this.#queue.name} failed and will be retried`, {
            error: errorText(error),
          })
      })
      .finally(() => {
        this.#active.delete(attempt)
        // The next of its subject may be due.
        this.#polling.wake()
      })
    this.#active.add(attempt)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#polling[Symbol.dispose]()
    await this.#claiming
    await settledWithin(Promise.allSettled(this.#active), SHUTDOWN_GRACE_MS)
    this.#stop.abort()
    await settledWithin(Promise.allSettled(this.#active), ABORT_TIMEOUT_MS)
    this.#stopped = true
  }
}
