import { expect, test } from 'vitest'
import { type Queue, QueueConsumer } from './consumer.ts'

type Attempt = { item: number; signal: AbortSignal; end: PromiseWithResolvers<void> }

/** A queue of these items whose attempts end when the test releases them. */
function testQueue(items: number[], concurrency: number) {
  const attempts: Attempt[] = []
  const queue: Queue<number> = {
    name: 'test items',
    concurrency,
    claim: async limit => items.splice(0, limit),
    handle(item, signal) {
      const end = Promise.withResolvers<void>()
      attempts.push({ item, signal, end })
      return end.promise
    },
  }
  const handled = () => attempts.map(({ item }) => item)
  return { queue, attempts, handled }
}

test('no more items are claimed than may be handled at a time, and the next one as soon as an attempt ends, however it ends', async () => {
  const { queue, attempts, handled } = testQueue([1, 2, 3, 4], 2)
  const logged: string[] = []
  const consumer = new QueueConsumer(queue, (_level, message) => logged.push(message))
  await expect.poll(handled).toEqual([1, 2])
  attempts[0]?.end.reject(new Error('no'))
  await expect.poll(handled).toEqual([1, 2, 3])
  attempts[1]?.end.resolve()
  await expect.poll(handled).toEqual([1, 2, 3, 4])
  expect(logged).toEqual(['an attempt of test items failed and will be retried'])
  for (const { end } of attempts) end.resolve()
  await consumer[Symbol.asyncDispose]()
})

test('disposal claims nothing more, aborts the running attempts and waits until they have settled', async () => {
  const items = [1]
  const { queue, attempts, handled } = testQueue(items, 5)
  const consumer = new QueueConsumer(queue, () => {})
  await expect.poll(handled).toEqual([1])
  let settled = false
  attempts[0]?.signal.addEventListener('abort', () =>
    setImmediate(() => {
      settled = true
      attempts[0]?.end.resolve()
    }),
  )
  items.push(2)
  await consumer[Symbol.asyncDispose]()
  expect(settled).toBe(true)
  consumer.wake()
  await new Promise(resolve => setImmediate(resolve))
  expect(handled()).toEqual([1])
})
