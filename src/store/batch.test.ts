import { expect, test } from 'vitest'
import { batched } from './batch.ts'

test('all lookups of one turn of the event loop are one call, and each gets its own result', async () => {
  const calls: number[][] = []
  const twice = batched(async (keys: number[]) => {
    calls.push(keys)
    return keys.map(key => key * 2)
  })
  expect(await Promise.all([1, 2, 3].map(twice))).toEqual([2, 4, 6])
  expect(await twice(4)).toBe(8)
  expect(calls).toEqual([[1, 2, 3], [4]])
})

test('a failed call rejects all of its lookups, and no others', async () => {
  let broken = true
  const lookup = batched(async (keys: number[]) => {
    if (broken) throw new Error('away')
    return keys
  })
  const results = await Promise.allSettled([1, 2].map(lookup))
  expect(results.map(result => result.status)).toEqual(['rejected', 'rejected'])
  broken = false
  expect(await lookup(3)).toBe(3)
})

test('more lookups than one call may have are several calls, none twice', async () => {
  const calls: number[][] = []
  const same = batched(async (keys: number[]) => {
    calls.push(keys)
    return keys
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(same))).toEqual([1, 2, 3, 4, 5])
  expect(calls.flat().sort()).toEqual([1, 2, 3, 4, 5])
})
