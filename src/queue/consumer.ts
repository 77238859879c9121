import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../core/log.ts'
import { FAILURES_TO_REST } from '../core/webhooks/webhook-retries.ts'
import { type ClaimedDelivery, claimDeliveries } from '../store/webhooks/webhook-deliveries.ts'
import { deliver } from '../webhooks/deliver.ts'
import type { WebhookDeps } from '../webhooks/settings.ts'

/** What was not heard of, and what is tried again, is looked for so often. */
const LOOK_MS = 1_000
/** Attempts of one process at a time: they are sockets that wait. */
const AT_ONCE = 200
/** So long attempts may go on when this process stops. */
const GRACE_MS = 1_000

/** Sends what is due, of all organizations. Any number of processes do; each attempt is one's. Disposing it lets go of what is not answered yet. */
export class Deliverer implements AsyncDisposable {
  readonly #deps: WebhookDeps
  readonly #active = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #claiming: Promise<void> | null = null
  #again = false
  #stopped = false

  constructor(deps: WebhookDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), LOOK_MS)
    this.wake()
  }

  /** There may be something to send. */
  wake = (): void => {
    if (this.#stopped) return
    if (this.#claiming) {
      this.#again = true
      return
    }
    this.#claiming = this.#claimAll()
      .catch(error => {
        if (!this.#stopped) this.#deps.log('error', 'webhooks could not be claimed; it is tried again', { error: errorText(error) })
      })
      .finally(() => {
        this.#claiming = null
        if (!this.#again) return
        this.#again = false
        this.wake()
      })
  }

  async #claimAll(): Promise<void> {
    const free = AT_ONCE - this.#active.size
    if (free <= 0) return
    for (const delivery of await claimDeliveries(this.#deps.db, free, FAILURES_TO_REST)) this.#begin(delivery)
  }

  #begin(delivery: ClaimedDelivery): void {
    const attempt: Promise<void> = deliver(this.#deps, delivery, this.#stop.signal)
      // The lease runs out, and the next attempt has the same id.
      .catch(error => this.#deps.log('error', 'a webhook could not be settled; it is tried again', { error: errorText(error) }))
      .finally(() => {
        this.#active.delete(attempt)
        // The next of its run may be due.
        this.wake()
      })
    this.#active.add(attempt)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#claiming
    const grace = new AbortController()
    await Promise.race([Promise.allSettled([...this.#active]), delay(GRACE_MS, undefined, { signal: grace.signal }).catch(() => {})])
    grace.abort()
    this.#stop.abort()
    await Promise.allSettled([...this.#active])
  }
}
