import { WATCH_INTERVAL_MS } from '../../store/notify.ts'

/** How many signs of a viewer may be missed: notifications can be lost. */
const MISSED = 3

/**
 * Whether a run may have viewers at this moment: they announce themselves when they come, when a worker
 * claims the run, and every few seconds. Runs without viewers send no notifications, because every
 * notification wakes every process of the service.
 */
export class ViewerPresence {
  readonly #now: () => number
  #until = Number.NEGATIVE_INFINITY

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** A viewer has announced itself. */
  seen() {
    this.#until = this.#now() + MISSED * WATCH_INTERVAL_MS
  }

  get present(): boolean {
    return this.#now() < this.#until
  }
}
