import { expect, test } from 'vitest'
import { toolInputs } from '../../contract/runs/tools.ts'
import { mayChangeFiles } from './file-tools.ts'

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
