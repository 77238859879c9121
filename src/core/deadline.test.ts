import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { deadline } from './deadline.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function aborted(signal: AbortSignal) {
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
}

test('a deadline is kept although garbage is collected between waits for it', async () => {
  using limit = deadline(500, new AbortController().signal)
  const collector = setInterval(collectGarbage, 3)
  try {
    while (!limit.signal.aborted) {
      await delay(5)
      await aborted(AbortSignal.any([limit.signal, AbortSignal.timeout(30)]))
    }
  } finally {
    clearInterval(collector)
  }
  expect([limit.signal.reason.name, limit.passed]).toEqual(['TimeoutError', true])
})

test('it aborts with the reason of the given signal, and does not count as passed', () => {
  const stop = new AbortController()
  using limit = deadline(60_000, stop.signal)
  stop.abort('stopped')
  expect([limit.signal.aborted, limit.signal.reason, limit.passed]).toEqual([true, 'stopped', false])
})
