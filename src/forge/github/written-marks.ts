/** The last version of a check run of ours. */
export type WrittenMark = { id: number; completed: boolean; key: string }
const MAX_WRITTEN = 1_000

/** Check runs that this process wrote, so that the next write need not find them. */
export class WrittenMarks {
  readonly #written = new Map<string, WrittenMark>()

  /** Undefined where `before` shows that another process wrote since. */
  get(key: string, before: string | undefined): WrittenMark | undefined {
    const written = this.#written.get(key)
    return written?.key === before ? written : undefined
  }

  set(key: string, written: WrittenMark): void {
    if (this.#written.size >= MAX_WRITTEN) this.#written.clear()
    this.#written.set(key, written)
  }
}
