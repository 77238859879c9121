import { expect, test } from 'vitest'
import { settledWithin, withTimeout } from './timeout.ts'

const never = new Promise<never>(() => {})

test('work that settles first decides, by its value or its error', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000, () => 'late')).toBe('done')
  await expect(withTimeout(Promise.reject(new Error('failed')), 60_000, () => 'late')).rejects.toThrow(
    'failed',
  )
  expect(await settledWithin(Promise.resolve('anything'), 60_000)).toBe(true)
})

test('work that is late is replaced by a value or an error, and a later failure of it is not unhandled', async () => {
  expect(await withTimeout(never, 1, () => 'late')).toBe('late')
  const tooLate = () => {
    throw new Error('too late')
  }
  const work = Promise.withResolvers<void>()
  await expect(withTimeout(work.promise, 1, tooLate)).rejects.toThrow('too late')
  work.reject(new Error('nobody waits'))
  expect(await settledWithin(never, 1)).toBe(false)
})
