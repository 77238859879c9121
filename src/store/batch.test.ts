import { expect, test } from 'vitest'
import { batched } from './batch.ts'

test('all who ask in one turn of the event loop are answered by one call, each its own', async () => {
  const calls: number[][] = []
  const twice = batched(async (keys: number[]) => {
    calls.push(keys)
    return keys.map(key => key * 2)
  })
  expect(await Promise.all([1, 2, 3].map(twice))).toEqual([2, 4, 6])
  expect(await twice(4)).toBe(8)
  expect(calls).toEqual([[1, 2, 3], [4]])
})

test('a call that fails fails all who asked in it, and nobody else', async () => {
  let broken = true
  const ask = batched(async (keys: number[]) => {
    if (broken) throw new Error('away')
    return keys
  })
  const answers = await Promise.allSettled([1, 2].map(ask))
  expect(answers.map(answer => answer.status)).toEqual(['rejected', 'rejected'])
  broken = false
  expect(await ask(3)).toBe(3)
})

test('more than one call may hold are asked in several, none twice', async () => {
  const calls: number[][] = []
  const same = batched(async (keys: number[]) => {
    calls.push(keys)
    return keys
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(same))).toEqual([1, 2, 3, 4, 5])
  expect(calls.flat().sort()).toEqual([1, 2, 3, 4, 5])
})
