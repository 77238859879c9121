import { expect, test } from 'vitest'
import { titleOf } from './title.ts'

test('the first meaningful line, without markdown', () => {
  expect(titleOf('\n\n## Fix the  tax\nmore')).toBe('Fix the tax')
  expect(titleOf('```playbook\n- run: ls\n```')).toBe('run: ls')
  expect(titleOf('```')).toBe('Agent run')
})

test('a long line is cut at a word', () => {
  const title = titleOf('word '.repeat(60))
  expect(title.length).toBeLessThanOrEqual(81)
  expect(title).toMatch(/word…$/)
})
