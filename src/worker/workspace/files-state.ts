/**
 * Two changes within this time may have the same time of change; the kernel's clock ticks every 10 ms at
 * most.
 */
const TICK_MS = 20

/**
 * Detects that nothing has changed since a snapshot. `read` returns the bytes of the largest file that may
 * have changed, a blank, and a text that differs after each change, unless two changes are closer than
 * TICK_MS; null: unknown.
 */
export class FilesState {
  readonly #read: () => Promise<string | null>
  #last: string | null = null
  #since = Number.POSITIVE_INFINITY
  #captured: string | null = null

  constructor(read: () => Promise<string | null>) {
    this.#read = read
  }

  /** Reads the state of now. Null: it is unknown. */
  async read(): Promise<string | null> {
    const state = await this.#read().catch(() => null)
    if (state !== this.#last) this.#since = performance.now()
    this.#last = state
    return state
  }

  /** The bytes of the largest file that may have changed. */
  largestBytes(state: string | null): number {
    return state === null ? Number.POSITIVE_INFINITY : Number.parseInt(state, 10)
  }

  /** Whether the files had this state when the last snapshot captured them. */
  isCaptured(state: string | null): boolean {
    return state !== null && state === this.#captured
  }

  /**
   * Call it before a capture that follows `read`. The returned function records that the capture has
   * succeeded.
   */
  capture(): () => void {
    // A change in the tick of the last one, which the capture may have missed, would look like none.
    const state = performance.now() - this.#since >= TICK_MS ? this.#last : null
    this.#captured = null
    return () => {
      this.#captured = state
    }
  }
}
