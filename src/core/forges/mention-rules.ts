import { mayMention, OUR_MARK } from './forge-event.ts'
import { same } from './forge-payload.ts'

/** Returns whether a text mentions us and was not written by this service in the account of a person. */
export const isForUs = (body: string, name: string): boolean =>
  !body.includes(OUR_MARK) && mayMention(body, name)

export const isLabelOf = (label: string, name: string): boolean => name !== '' && same(label, name)

/**
 * Returns the id of the event that last added a label, from all of its events in order; null when the label
 * was removed.
 */
export const activeLabel = (done: { id: number; given: boolean }[]): number | null => {
  const last = done.at(-1)
  return last?.given ? last.id : null
}

/**
 * Returns the first `max` of the changed items, in order, extended to all items of the same second, so that
 * the next page can continue after that second.
 */
export function firstChanged<T extends { changed_at: Date }>(changed: T[], since: Date, max: number): T[] {
  let end = 0
  for (const [i, { changed_at }] of changed.entries()) {
    const before = changed[i - 1]?.changed_at
    if (i >= max && before !== undefined && before > since && before < changed_at) break
    end = i + 1
  }
  return changed.slice(0, end)
}
