import { WATCH_INTERVAL_MS } from '../../store/notify.ts'

/** How many signs of a viewer may be missed: notifications can be lost. */
const MISSED = 3

/**
 * Whether a run may have viewers at this moment. Viewers announce themselves every few seconds; at the start a run counts as viewed. Runs
 * without viewers send no notifications, because every notification wakes every process of the service.
 */
export class ViewerPresence {
  readonly #now: () => number
  #until: number

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#until = now() + MISSED * WATCH_INTERVAL_MS
  }

  /** A viewer has announced itself. */
  seen() {
    this.#until = this.#now() + MISSED * WATCH_INTERVAL_MS
  }

  get present(): boolean {
    return this.#now() < this.#until
  }
}
