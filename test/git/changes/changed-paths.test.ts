import { expect, test } from 'vitest'
import { playHistories } from './play-histories.ts'
import { startHistories } from './two-snapshots.ts'

const seed = Number(process.env.TEST_SEED ?? 1)
const CHANGES = 100 * Number(process.env.TEST_MORE ?? 1)

test(`snapshots from the changed paths have the trees of git after any change (TEST_SEED=${seed})`, async () => {
  expect(await playHistories(seed, CHANGES)).toBeGreaterThan(0.1)
}, 600_000)

test('files that change while they are read are right in the first snapshot afterwards', async () => {
  await using histories = await startHistories()
  await using history = await histories.start(true)
  await history.after('echo begin >growing')
  const writing = history.agent.separate(
    'for i in {1..100}; do echo $i >>growing; echo $((i % 10)) >same-size; mv -f same-size lib/moved; done',
  )
  for (let n = 0; n < 15; n++) await history.meanwhile()
  await writing
  const taken = await history.after('true')
  expect(taken).not.toBe(null)
  expect(taken?.from_changes.tree).toBe(taken?.from_git.tree)
  expect(await history.finish()).toBe(null)
}, 120_000)
