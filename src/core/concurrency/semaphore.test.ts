import { expect, it } from 'vitest'
import { createSemaphore } from './semaphore.ts'

it('admits as many callers as it has slots, then one for each release, in order', async () => {
  const semaphore = createSemaphore(2)
  const order: number[] = []
  const leave = [await semaphore.enter(), await semaphore.enter()]
  const waiting = [3, 4].map(async number => {
    const leave_again = await semaphore.enter()
    order.push(number)
    leave_again?.()
  })
  await Promise.resolve()
  expect(order).toEqual([])
  leave[0]?.()
  await Promise.all(waiting)
  expect(order).toEqual([3, 4])
})

it('admits no caller whose signal has aborted, and keeps the positions of the others', async () => {
  const semaphore = createSemaphore(1)
  const leave = await semaphore.enter()
  const abort = new AbortController()
  const taken_back = semaphore.enter(abort.signal)
  const next = semaphore.enter(new AbortController().signal)
  abort.abort()
  expect(await taken_back).toBeNull()
  expect(await semaphore.enter(abort.signal)).toBeNull()
  leave?.()
  expect(await next).toBeTypeOf('function')
})
