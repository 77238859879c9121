import type { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { visiblyMentions } from './visible-mention.ts'

const started = async (work: () => Promise<boolean>): Promise<{ result: boolean; threads: number }> => {
  let threads = 0
  const count = (_worker: Worker) => threads++
  process.on('worker', count)
  try {
    return { result: await work(), threads }
  } finally {
    process.off('worker', count)
  }
}

test('a text is parsed on a thread, and only if it contains the mention at all', async () => {
  expect(await started(() => visiblyMentions(1, 'hello `@ada`', 'agent'))).toEqual({
    result: false,
    threads: 0,
  })
  expect(await started(() => visiblyMentions(1, 'hello `@agent`', 'agent'))).toEqual({
    result: false,
    threads: 1,
  })
  expect(await started(() => visiblyMentions(1, 'hello @agent', 'agent'))).toEqual({
    result: true,
    threads: 1,
  })
})

test('a long text that people write is parsed in time', async () => {
  const paragraph =
    '## Title\n\n- some **text** with [a link](https://example.com) and `code`\n\n> quoted\n\n'
  const text = paragraph.repeat(700)
  expect(text.length).toBeGreaterThan(50_000)
  expect(await visiblyMentions(1, `${text}@agent`, 'agent')).toBe(true)
})
