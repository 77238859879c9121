import { expect, it } from 'vitest'
import { createSemaphore } from './semaphore.ts'

it('admits as many callers as it has slots, then one for each release, in order', async () => {
  const gate = createSemaphore(2)
  const order: number[] = []
  const leave = [await gate.enter(), await gate.enter()]
  const waiting = [3, 4].map(async number => {
    const leave_again = await gate.enter()
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
  const gate = createSemaphore(1)
  const leave = await gate.enter()
  const abort = new AbortController()
  const taken_back = gate.enter(abort.signal)
  const next = gate.enter(new AbortController().signal)
  abort.abort()
  expect(await taken_back).toBeNull()
  expect(await gate.enter(abort.signal)).toBeNull()
  leave?.()
  expect(await next).toBeTypeOf('function')
})
