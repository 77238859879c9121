import { expect, test } from 'vitest'
import { batched } from './batch.ts'

test('all lookups of one turn of the event loop are one call, and each gets its own result', async () => {
  const calls: number[][] = []
  const twice = batched(async (keys: number[]) => {
    calls.push(keys)
    return keys.map(key => key * 2)
  }, String)
  expect(await Promise.all([1, 2, 3].map(twice))).toEqual([2, 4, 6])
  expect(await twice(4)).toBe(8)
  expect(calls).toEqual([[1, 2, 3], [4]])
})

test('a failed call rejects all of its lookups, and no others', async () => {
  let broken = true
  const lookup = batched(async (keys: number[]) => {
    if (broken) throw new Error('away')
    return keys
  }, String)
  const results = await Promise.allSettled([1, 2].map(lookup))
  expect(results.map(result => result.status)).toEqual(['rejected', 'rejected'])
  broken = false
  expect(await lookup(3)).toBe(3)
})

test('more lookups than one call may have are several calls, none twice', async () => {
  const calls: number[][] = []
  const same = batched(
    async (keys: number[]) => {
      calls.push(keys)
      return keys
    },
    String,
    2,
  )
  expect(await Promise.all([1, 2, 3, 4, 5].map(same))).toEqual([1, 2, 3, 4, 5])
  expect(calls.flat().sort()).toEqual([1, 2, 3, 4, 5])
})

test('lookups during a batch are one call after it, and share the result of their key', async () => {
  const calls: string[][] = []
  const loads: (() => void)[] = []
  const length = batched(
    async (keys: string[]) => {
      calls.push(keys)
      await new Promise<void>(resolve => loads.push(resolve))
      return keys.map(key => key.length)
    },
    key => key,
  )
  const first = length('a')
  await new Promise(resolve => setImmediate(resolve))
  const others = ['a', 'bb', 'bb', 'a'].map(length)
  await new Promise(resolve => setImmediate(resolve))
  expect(calls).toEqual([['a']])
  loads.shift()?.()
  expect(await first).toBe(1)
  await new Promise(resolve => setImmediate(resolve))
  loads.shift()?.()
  expect(await Promise.all(others)).toEqual([1, 2, 2, 1])
  expect(calls).toEqual([['a'], ['a', 'bb']])
})
