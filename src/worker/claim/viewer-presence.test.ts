import { expect, test } from 'vitest'
import { WATCH_INTERVAL_MS } from '../../store/notify.ts'
import { ViewerPresence } from './viewer-presence.ts'

test('a run has no viewers until one announces itself, and then for three times the interval at which a process reports them', () => {
  let now = 1_000
  const viewers = new ViewerPresence(() => now)
  expect(viewers.present).toBe(false)
  viewers.seen()
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
