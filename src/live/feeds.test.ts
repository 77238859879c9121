import { expect, test } from 'vitest'
import { CLAIMED } from '../store/notify.ts'
import { Feeds, type WatchedRun } from './feeds.ts'
import { Hub } from './hub.ts'

const source = { after: async () => [], state: async () => null, current: async () => null }
const reader = () => ({ cursor: 0, full: false, write: () => true, end: () => {} })
const words = (runs: WatchedRun[]) => runs.map(run => `${run.organization_id}:${run.run_id}`)

/**
 * Feeds that record which runs they report as followed; `reported` resolves with the reports once there are
 * that many.
 */
function watching(every_ms: number) {
  const reports: string[][] = []
  let wanted = { count: Number.POSITIVE_INFINITY, resolve: () => {} }
  const hub = new Hub()
  const feeds = new Feeds(
    hub,
    error => expect(error).toBeUndefined(),
    runs => {
      reports.push(words(runs))
      if (reports.length >= wanted.count) wanted.resolve()
    },
    every_ms,
  )
  const reported = async (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wanted = { count, resolve }
    if (reports.length < count) await promise
    return reports.slice(0, count)
  }
  return { feeds, hub, reports, reported }
}

test('a run is reported as soon as a reader follows it, and all followed runs are reported periodically', async () => {
  const { feeds, reported } = watching(5)
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  feeds.run(2, 8, 'standard', source, () => null).add(reader())
  const reports = await reported(4)
  expect(reports.slice(0, 2)).toEqual([['1:7'], ['2:8']])
  expect(reports.slice(2)).toEqual([
    ['1:7', '2:8'],
    ['1:7', '2:8'],
  ])
})

test('further readers of a run, and those of an organization, cause no report', async () => {
  const { feeds, reports } = watching(60_000)
  feeds.organization(1, 'standard', source).add(reader())
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  expect(reports).toEqual([['1:7']])
})

test('a run without a viewer is not reported again', async () => {
  const { feeds, reports, reported } = watching(5)
  const leave = feeds.run(1, 7, 'standard', source, () => null).add(reader())
  leave()
  feeds.sweep()
  feeds.run(1, 8, 'standard', source, () => null).add(reader())
  await reported(3)
  expect(reports.slice(1).flat()).not.toContain('1:7')
})

test('a run is reported when a worker claims it, if it has a viewer here', async () => {
  const { feeds, hub, reports } = watching(60_000)
  feeds.run(1, 7, 'standard', source, () => null).add(reader())
  hub.live(1, 7, CLAIMED)
  hub.live(1, 8, CLAIMED)
  expect(reports).toEqual([['1:7'], ['1:7']])
})
