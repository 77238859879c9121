import { expect, test } from 'vitest'
import { differingShare, MIN_POINTS, reducePicture } from '../../../scripts/screenshots/reduce-picture.ts'
import { readReferences } from '../../../scripts/screenshots/references.ts'
import { nameOf, takePictures } from '../../../scripts/screenshots/take-pictures.ts'

/**
 * A point of the small picture differs when a channel does by more than this, of 255. Another version of
 * Chromium stays below it.
 */
const STEP = 24
/** The share of points that may differ: more is a part that moved, appeared or is missing. */
const MAX_SHARE = 0.002

test('every page looks as in its pictures; after an intended change, `npm run screenshots` takes them again', {
  timeout: 600_000,
}, async () => {
  const references = readReferences()
  const changed: string[] = []
  const taken = new Set<string>()
  await takePictures(async (picture, workshop) => {
    const name = nameOf(picture)
    taken.add(name)
    const reference = references.get(name)
    if (reference === undefined) return void changed.push(`${name}: no picture`)
    // A colour near the limit may be on either side of it.
    const [now, more] = [
      await reducePicture(workshop, picture.png),
      await reducePicture(workshop, picture.png, MIN_POINTS / 2),
    ]
    const gone = reference.colours.filter(colour => !more.colours.includes(colour))
    const share = await differingShare(workshop, reference.small, now.small, STEP)
    if (gone.length > 0) changed.push(`${name}: without the colours ${gone.join(' ')}`)
    if (share > MAX_SHARE) changed.push(`${name}: ${(share * 100).toFixed(2)} % differ`)
  })
  expect(changed).toEqual([])
  expect([...references.keys()].filter(name => !taken.has(name))).toEqual([])
  expect(taken.size).toBeGreaterThan(100)
})
