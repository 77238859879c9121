import { expect, test } from 'vitest'
import { WATCH_MS } from '../../store/notify.ts'
import { Onlookers } from './onlookers.ts'

test('somebody may follow a run at its beginning and for three times as long as a process takes to say so again', () => {
  let now = 1_000
  const onlookers = new Onlookers(() => now)
  expect(onlookers.present).toBe(true)
  now += 3 * WATCH_MS - 1
  expect(onlookers.present).toBe(true)
  now += 1
  expect(onlookers.present).toBe(false)
  onlookers.seen()
  now += 2 * WATCH_MS + 1
  expect(onlookers.present).toBe(true)
  now += WATCH_MS
  expect(onlookers.present).toBe(false)
})
