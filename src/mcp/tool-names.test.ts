import { expect, test } from 'vitest'
import { offeredNames } from './tool-names.ts'

const VALID = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

test('a tool is offered under the name of its server and its own', () => {
  expect(offeredNames('tickets', ['search', 'add-comment', 'ns_get'])).toEqual([
    'tickets__search',
    'tickets__add-comment',
    'tickets__ns_get',
  ])
})

test('every name is valid for all providers, and tools never share one', () => {
  const tools = [
    'a.b',
    'a/b',
    'a b',
    'é'.repeat(100),
    'x'.repeat(200),
    `${'x'.repeat(200)}y`,
    '',
    '💥',
    'a_b',
  ]
  const names = offeredNames('s'.repeat(32), tools)
  for (const name of names) expect(name).toMatch(VALID)
  expect(new Set(names).size).toBe(tools.length)
})

test('the name of a tool stays when tools after it come and go, unless it is taken', () => {
  const long = 'y'.repeat(100)
  expect(offeredNames('s', [long, 'a'])[0]).toBe(offeredNames('s', ['b', long])[1])
})
