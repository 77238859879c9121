import { expect, test } from 'vitest'
import { allItems } from './all-items.ts'

test('all items of a list are fetched when the service counts only a few beyond each page', async () => {
  const list = Array.from({ length: 25 }, (_, n) => n)
  const skips: number[] = []
  const page = async (skip: number) => {
    skips.push(skip)
    return { items: list.slice(skip, skip + 5), total: Math.min(list.length, skip + 10) }
  }
  expect(await allItems(page)).toEqual(list)
  expect(skips).toEqual([0, 5, 10, 15, 20])
})

test('a list that becomes shorter meanwhile ends at an empty page', async () => {
  const page = async (skip: number) => ({ items: skip === 0 ? ['a'] : [], total: 2 })
  expect(await allItems(page)).toEqual(['a'])
})
