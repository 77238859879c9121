import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { slowest } from './slowest-first.ts'

test('each file that must start early is there, once', () => {
  expect(slowest.filter(path => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([])
  expect(new Set(slowest).size).toBe(slowest.length)
})
