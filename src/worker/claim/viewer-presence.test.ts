import { expect, test } from 'vitest'
import { WATCH_INTERVAL_MS } from '../../store/notify.ts'
import { ViewerPresence } from './viewer-presence.ts'

test('somebody may follow a run at its beginning and for three times as long as a process takes to say so again', () => {
  let now = 1_000
  const viewers = new ViewerPresence(() => now)
  expect(viewers.present).toBe(true)
  now += 3 * WATCH_INTERVAL_MS - 1
  expect(viewers.present).toBe(true)
  now += 1
  expect(viewers.present).toBe(false)
  viewers.seen()
  now += 2 * WATCH_INTERVAL_MS + 1
  expect(viewers.present).toBe(true)
  now += WATCH_INTERVAL_MS
  expect(viewers.present).toBe(false)
})
