import { expect, test } from 'vitest'
import { followUpAbout } from './follow-up-about.ts'

test('the follow-up names the file and the line, and quotes the line', () => {
  const line = { side: 'RIGHT', number: 12, text: 'return total' } as const
  expect(followUpAbout({ path: 'src/invoice.js', line }, ' Round it. ')).toBe(
    'In `src/invoice.js`, line 12:\n\n```\nreturn total\n```\n\nRound it.',
  )
})

test('a line that the change removes is named as one of the file before it', () => {
  const line = { side: 'LEFT', number: 3, text: 'x' } as const
  expect(followUpAbout({ path: 'a', line }, 'Why?')).toContain('line 3 before your change, which removes it')
})

test('a line with backticks cannot end its quotation', () => {
  const line = { side: 'RIGHT', number: 1, text: 'a ```` b' } as const
  expect(followUpAbout({ path: 'a', line }, 'c')).toContain('\n`````\na ```` b\n`````\n')
})

test('a comment on a file quotes no line', () => {
  expect(followUpAbout({ path: 'a.ts', line: null }, 'Split it.')).toBe('In `a.ts`:\n\nSplit it.')
})
