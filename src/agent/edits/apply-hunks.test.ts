import { expect, test } from 'vitest'
import { applyHunks } from './apply-hunks.ts'
import type { Hunk } from './patch-format.ts'

const hunk = (removed: string[], added: string[]): Hunk => ({
  ...{ line: 1, anchors: [], at_end: false },
  lines: [...removed.map(text => ({ sign: '-' as const, text })), ...added.map(text => ({ sign: '+' as const, text }))],
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
  const result = await applyHunks('a\n'.repeat(100_000), [hunk([...Array.from({ length: 50_000 }, () => 'a'), 'b'], [])])
  expect(result).toMatchObject({ number: 1 })
})

test('the end of a file of 2,000,000 lines is changed, and other work runs between two hunks', async () => {
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const result = await applyHunks(`${'a\n'.repeat(2_000_000)}b\nc\n`, [hunk(['b'], ['B']), hunk(['c'], ['C'])])
  clearImmediate(immediate)
  expect('text' in result && result.text.slice(-6)).toBe('a\nB\nC\n'.slice(-6))
  expect(turns).toBeGreaterThanOrEqual(2)
})
