import { expect, test } from 'vitest'
import { toolLabel } from './tool-label.ts'

test('actions of the service have words, tools of the agent their names', () => {
  expect(toolLabel('git_clone', false)).toBe('Cloned')
  expect(toolLabel('git_clone', true)).toBe('Clone')
  expect(toolLabel('shell', true)).toBe('shell')
  expect(toolLabel('constructor', false)).toBe('constructor')
  expect(toolLabel(null, false)).toBe('tool')
})
