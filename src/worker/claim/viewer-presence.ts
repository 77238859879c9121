import { WATCH_MS } from '../../store/notify.ts'

/** Two that are lost on the way are no reason to stop. */
const MISSED = 3

/**
 * Whether somebody may follow a run at this moment. Who does says so every few seconds; at the beginning nobody can have been heard yet, so
 * it may be. What nobody follows is not told: every notification wakes every process of the service.
 */
export class ViewerPresence {
  readonly #now: () => number
  #until: number

  /** @param now milliseconds of any clock that only goes on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#until = now() + MISSED * WATCH_MS
  }

  /** Somebody has just said so. */
  seen() {
    this.#until = this.#now() + MISSED * WATCH_MS
  }

  get present(): boolean {
    return this.#now() < this.#until
  }
}
