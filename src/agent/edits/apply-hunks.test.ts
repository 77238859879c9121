import { describe, expect, test } from 'vitest'
import { applyHunks } from './apply-hunks.ts'
import type { Hunk } from './patch-format.ts'

const hunk = (removed: string[], added: string[]): Hunk => ({
  line: 1,
  anchors: [],
  at_end: false,
  lines: [
    ...removed.map(text => ({ sign: '-' as const, text })),
    ...added.map(text => ({ sign: '+' as const, text })),
  ],
})

describe('line endings stay as they are, and so does a missing line break at the end', () => {
  test.each([
    ['a\r\nb', [], ['b'], 'a'],
    ['a\r\nb', ['c', 'd'], ['b'], 'a\r\nc\r\nd'],
    ['a\r\nb', ['a2'], ['a'], 'a2\r\nb'],
    ['a\r\nb', ['c'], [], 'a\r\nb\r\nc'],
    ['a\r\nb\r\n', ['c'], [], 'a\r\nb\r\nc\r\n'],
    ['a\r\nb\r\n', [], ['b'], 'a\r\n'],
    ['a\nb', ['c'], [], 'a\nb\nc'],
    ['a\nb', [], ['b'], 'a'],
    ['a\r\nb\nc', [], ['b', 'c'], 'a'],
    ['a\r\nb\nc', ['d'], ['c'], 'a\r\nb\nd'],
    ['a\nb\r', ['c'], ['a'], 'c\nb\r'],
    ['b', ['c', 'd'], ['b'], 'c\nd'],
    ['b', [], ['b'], ''],
    ['', ['a'], [], 'a\n'],
  ])('%j with %j instead of %j is %j', async (before, added, removed, after) => {
    expect(await applyHunks(before, [hunk(removed, added)])).toEqual({ text: after })
  })

  test('an addition after context', async () => {
    const lines: Hunk['lines'] = [
      { sign: ' ', text: 'b' },
      { sign: '+', text: 'c' },
    ]
    expect(await applyHunks('a\r\nb', [{ ...hunk([], []), lines }])).toEqual({ text: 'a\r\nb\r\nc' })
  })
})

test('many hunks that match only loosely are found in a file of 100,000 lines', async () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `\t\u201cline\u201d \u2014 ${i} `)
  const wanted = Array.from({ length: 300 }, (_, i) => i * 333)
  const hunks = wanted.map(i => hunk([`"line" - ${i}`], [`${i}`]))
  const expected = lines.map((line, i) => (i % 333 === 0 && i < 300 * 333 ? `${i}` : line)).join('\n')
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  expect(await applyHunks(bytes(lines.join('\n')), hunks)).toEqual({ text: bytes(expected) })
})

test('a hunk whose lines almost match everywhere ends', async () => {
  const result = await applyHunks('a\n'.repeat(100_000), [
    hunk([...Array.from({ length: 50_000 }, () => 'a'), 'b'], []),
  ])
  expect(result).toMatchObject({ number: 1 })
})

test('the end of a file of 2,000,000 lines is changed, and other work runs between two hunks', async () => {
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const result = await applyHunks(`${'a\n'.repeat(2_000_000)}b\nc\n`, [
    hunk(['b'], ['B']),
    hunk(['c'], ['C']),
  ])
  clearImmediate(immediate)
  expect('text' in result && result.text.slice(-6)).toBe('a\nB\nC\n'.slice(-6))
  expect(turns).toBeGreaterThanOrEqual(2)
})
