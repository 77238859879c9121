import { expect, it } from 'vitest'
import { canonicalJson, isShownWhole, mergedRequest, shownRequest } from './call-request.ts'

const deep = Array.from({ length: 30 }).reduce<unknown>(inner => ({ inner }), 'x')

it.each([
  { title: 'a'.repeat(501) },
  { kind: 'a'.repeat(501) },
  { rawInput: { command: 'a'.repeat(70_000) } },
  { rawInput: { ['a'.repeat(101)]: 1 } },
  { rawInput: deep },
  { content: [{ type: 'content', content: { type: 'text', text: 'a'.repeat(70_000) } }] },
  { locations: Array.from({ length: 20_000 }, () => ({})) },
  {
    rawInput: { command: 'a'.repeat(40_000) },
    content: [{ type: 'diff', path: 'a', newText: 'a'.repeat(40_000) }],
  },
])('finds that an entry would show only a part of a request: case %#', update => {
  expect(isShownWhole(mergedRequest({}, update))).toBe(false)
})

it('remembers that an input was too long when an update states none', () => {
  const long = mergedRequest({}, { rawInput: { command: 'a'.repeat(70_000) } })
  expect(isShownWhole(mergedRequest(long, { title: 'Run', rawInput: {} }))).toBe(false)
  expect(isShownWhole(mergedRequest(long, { rawInput: { command: 'ls' } }))).toBe(true)
})

it('shows everything of a request except an input that is an object', () => {
  const location = [{ path: 'a', line: 1 }]
  const diff = { type: 'diff', path: 'a', oldText: null, newText: 'x' }
  const odd = { ...diff, mode: '0777' }
  const request = {
    title: 'Write',
    kind: 'edit',
    rawInput: 'rm a',
    content: [diff, odd],
    locations: location,
  }
  expect(isShownWhole(request)).toBe(true)
  expect(shownRequest(request)).toEqual({
    request: { title: 'Write', kind: 'edit', input: 'rm a', content: [odd], locations: location },
    changed: [
      { path: 'a', old: '', new: 'x' },
      { path: 'a', old: '', new: 'x' },
    ],
  })
  expect(shownRequest({ rawInput: { command: 'ls' } })).toEqual({ request: {} })
})

it('is the same JSON for another order of keys at any depth, and another for another order of a list', () => {
  expect(canonicalJson({ a: { b: 1, c: [2, 3] }, d: 4 })).toBe(
    canonicalJson({ d: 4, a: { c: [2, 3], b: 1 } }),
  )
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]))
})

it('a terminal, which has another id in each process of the agent, is not part of the request', () => {
  const of = (terminalId: string) =>
    mergedRequest({}, { title: 'ls', content: [{ type: 'terminal', terminalId }] })
  expect(of('1')).toEqual(of('2'))
})
