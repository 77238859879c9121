import { expect, test } from 'vitest'
import { pause } from './pause.ts'

test('a pause ends immediately when its signal is aborted, before or while it lasts, with the reason', async () => {
  await pause(0, undefined)
  const reason = new Error('enough')
  await expect(pause(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
  const abort = new AbortController()
  const paused = pause(60_000, abort.signal)
  abort.abort(reason)
  await expect(paused).rejects.toBe(reason)
})
