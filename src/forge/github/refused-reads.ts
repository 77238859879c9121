import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError } from '../port.ts'

const REFUSAL_MS = 10 * 60_000
const MAX_REFUSALS = 1_000

/** Requests that GitHub refused because a permission is missing: they are not repeated for ten minutes. */
export class RefusedReads {
  readonly #refused = new Map<string, { error: ForgeError; until: number }>()

  /**
   * Returns the result of `work`. Throws the error of the last refusal, without a request, if it is less than
   * ten minutes old.
   */
  async unlessRefused<T>({ owner, name }: ForgeRepository, work: () => Promise<T>): Promise<T> {
    const key = `${owner}/${name}`
    const known = this.#refused.get(key)
    if (known && known.until > Date.now()) throw known.error
    try {
      return await work()
    } catch (error) {
      if (error instanceof ForgeError && error.code === 'forbidden') {
        if (this.#refused.size >= MAX_REFUSALS) this.#refused.clear()
        this.#refused.set(key, { error, until: Date.now() + REFUSAL_MS })
      }
      throw error
    }
  }
}
