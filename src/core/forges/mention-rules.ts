import { mentions, OUR_MARK } from './forge-event.ts'
import { same } from './forge-payload.ts'

/** Whether a text asks us by our name, and is none that we wrote in the account of somebody else. */
export const isForUs = (body: string, name: string): boolean => !body.includes(OUR_MARK) && mentions(body, name)

export const isLabelOf = (label: string, name: string): boolean => name !== '' && same(label, name)

/** Which giving of a label it is that stands, of all that was done with it, in its order; null: it was taken off. */
export const standingLabel = (done: { id: number; given: boolean }[]): number | null => {
  const last = done.at(-1)
  return last?.given ? last.id : null
}

/** Of what changed, in its order, what is looked into at once: `most`, and all of the second of the last, so that who goes on from there gets on. */
export function firstChanged<T extends { changed_at: Date }>(changed: T[], since: Date, most: number): T[] {
  let end = 0
  for (const [i, { changed_at }] of changed.entries()) {
    const before = changed[i - 1]?.changed_at
    if (i >= most && before !== undefined && before > since && before < changed_at) break
    end = i + 1
  }
  return changed.slice(0, end)
}
