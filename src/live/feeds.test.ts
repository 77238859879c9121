import { expect, test } from 'vitest'
import { Feeds, type WatchedRun } from './feeds.ts'
import { Hub } from './hub.ts'

const source = { after: async () => [], state: async () => null, now: async () => null }
const reader = () => ({ cursor: 0, full: false, write: () => true, end: () => {} })
const words = (runs: WatchedRun[]) => runs.map(run => `${run.organization_id}:${run.run_id}`)

/** Feeds that keep what they say of runs that are followed; `said` resolves with it once there are so many words. */
function watching(every_ms: number) {
  const told: string[][] = []
  let wanted = { count: Number.POSITIVE_INFINITY, resolve: () => {} }
  const feeds = new Feeds(
    new Hub(),
    error => expect(error).toBeUndefined(),
    runs => {
      told.push(words(runs))
      if (told.length >= wanted.count) wanted.resolve()
    },
    every_ms,
  )
  const said = async (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wanted = { count, resolve }
    if (told.length < count) await promise
    return told.slice(0, count)
  }
  return { feeds, told, said }
}

test('a run that somebody begins to follow is named at once, and all that are followed again and again', async () => {
  const { feeds, said } = watching(5)
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  feeds.run(2, 8, 'standard', source, () => null).add(reader())
  const told = await said(4)
  expect(told.slice(0, 2)).toEqual([['1:7'], ['2:8']])
  expect(told.slice(2)).toEqual([
    ['1:7', '2:8'],
    ['1:7', '2:8'],
  ])
})

test('further readers of a run, and those of an organization, name nothing', async () => {
  const { feeds, told } = watching(60_000)
  feeds.organization(1, 'standard', source).add(reader())
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  expect(told).toEqual([['1:7']])
})

test('what nobody follows any more is not named again', async () => {
  const { feeds, told, said } = watching(5)
  const leave = feeds.run(1, 7, 'standard', source, () => null).add(reader())
  leave()
  feeds.sweep()
  feeds.run(1, 8, 'standard', source, () => null).add(reader())
  await said(3)
  expect(told.slice(1).flat()).not.toContain('1:7')
})
