import { expect, test } from 'vitest'
import { toolInputs } from '../../contract/runs/tools.ts'
import { mayChangeFiles, mayHaveEffect } from './file-tools.ts'

test('every tool that may write files is tracked, and an unknown one as well', () => {
  expect(Object.keys(toolInputs).filter(mayChangeFiles).sort()).toEqual([
    'apply_patch',
    'edit',
    'shell',
    'write',
  ])
  expect(mayChangeFiles('something_new')).toBe(true)
  expect(mayChangeFiles('git_clone')).toBe(true)
  // Checks run in a sandbox of their own.
  expect(mayChangeFiles('check')).toBe(false)
})

test('a call of an agent of another vendor has no effect if it states so', () => {
  expect(
    ['read', 'search', 'think', 'fetch', 'switch_mode'].filter(kind => mayHaveEffect('Tool', kind)),
  ).toEqual([])
  expect(
    ['edit', 'delete', 'move', 'execute', 'other', undefined].every(kind => mayHaveEffect('Tool', kind)),
  ).toBe(true)
  expect(mayHaveEffect('read')).toBe(false)
})
