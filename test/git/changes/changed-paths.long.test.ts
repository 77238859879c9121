import { expect, test } from 'vitest'
import { playHistories } from './play-histories.ts'

const seed = Number(process.env.TEST_SEED ?? 2)
const CHANGES = 1_000 * Number(process.env.TEST_MORE ?? 1)

test(`snapshots from the changed paths have the trees of git after ${CHANGES} changes (TEST_SEED=${seed})`, async () => {
  expect(await playHistories(seed, CHANGES)).toBeGreaterThan(0.1)
}, 7_200_000)
