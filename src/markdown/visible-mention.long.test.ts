import { expect, test } from 'vitest'
import { visiblyMentions } from './visible-mention.ts'

test('texts that are written to take long to parse mention nobody, and do not delay those of another connection', async () => {
  const slow = `@agent\n\n${'a\n=\n'.repeat(16_000)}`
  const ended: boolean[] = []
  // Without turns they would occupy both threads.
  const texts = [1, 1].map(async connection_id =>
    ended.push(await visiblyMentions(connection_id, slow, 'agent')),
  )
  expect(await visiblyMentions(2, 'hello @agent', 'agent')).toBe(true)
  expect(ended).toEqual([])
  await Promise.all(texts)
  expect(ended).toEqual([false, false])
}, 60_000)
