import { expect, test } from 'vitest'
import { followUpAbout } from './diff-target.ts'

test('a comment names its file and line and quotes the line', () => {
  const line = { side: 'RIGHT', number: 12, text: '  return total' } as const
  expect(followUpAbout({ path: 'src/a.ts', line }, ' Round this. ')).toBe(
    'In `src/a.ts`, line 12:\n\n```\n  return total\n```\n\nRound this.',
  )
  expect(followUpAbout({ path: 'src/a.ts', line: null }, 'Split it.')).toBe('In `src/a.ts`:\n\nSplit it.')
  expect(followUpAbout({ path: 'a', line: { ...line, side: 'LEFT' } }, 'Why?')).toContain(
    'line 12 before your change',
  )
})

test('no line can end its own quotation', () => {
  const line = { side: 'RIGHT', number: 1, text: '```` end' } as const
  expect(followUpAbout({ path: 'a.md', line }, 'Hm')).toContain('\n`````\n```` end\n`````\n')
})
