import { expect, test } from 'vitest'
import { toolLabel } from './tool-label.ts'

test('actions of the service have words, tools of the agent their names', () => {
  expect(toolLabel('git_clone', false)).toBe('Cloned')
  expect(toolLabel('git_clone', true)).toBe('Clone')
  expect(toolLabel('shell', true)).toBe('shell')
  expect(toolLabel('constructor', false)).toBe('constructor')
  expect(toolLabel(null, false)).toBe('tool')
})

test('the tool of an MCP server is named with its server, and nothing else is taken for one', () => {
  expect(toolLabel('tickets__search__all', true)).toBe('tickets › search__all')
  expect(toolLabel('my-server2__get', false)).toBe('my-server2 › get')
  for (const name of ['__proto__', '_a__b', 'A__b', 'a__']) expect(toolLabel(name, false)).toBe(name)
})
