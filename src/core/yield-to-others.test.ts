import { expect, test } from 'vitest'
import { inTurns } from './yield-to-others.ts'

test('others are served between two items', async () => {
  const order: string[] = []
  const work = (item: number) => {
    setImmediate(() => order.push(`other ${item}`))
    order.push(`item ${item}`)
    return item * 2
  }
  expect(await inTurns([1, 2, 3], work)).toEqual([2, 4, 6])
  expect(order).toEqual(['item 1', 'other 1', 'item 2', 'other 2', 'item 3', 'other 3'])
})
