import { expect, test, vi } from 'vitest'
import { onAbort, orAborted } from './abort.ts'

test('work that settles first decides, and leaves no listener behind', async () => {
  const controller = new AbortController()
  const removed = vi.spyOn(controller.signal, 'removeEventListener')
  expect(await orAborted(Promise.resolve(1), controller.signal)).toBe(1)
  await expect(orAborted(Promise.reject(new Error('failed')), controller.signal)).rejects.toThrow('failed')
  expect(removed).toHaveBeenCalledTimes(2)
})

test('an abort rejects with its reason, also one from before', async () => {
  const controller = new AbortController()
  const waiting = orAborted(new Promise(() => {}), controller.signal)
  controller.abort(new Error('stopped'))
  await expect(waiting).rejects.toThrow('stopped')
  await expect(orAborted(new Promise(() => {}), controller.signal)).rejects.toThrow('stopped')
})

test('a listener is called once, immediately after an abort, and never after it was disposed of', () => {
  const controller = new AbortController()
  const [called, disposed, late] = [vi.fn(), vi.fn(), vi.fn()]
  onAbort(controller.signal, called)
  onAbort(controller.signal, disposed)[Symbol.dispose]()
  controller.abort()
  onAbort(controller.signal, late)
  expect([called, disposed, late].map(listener => listener.mock.calls.length)).toEqual([1, 0, 1])
})
