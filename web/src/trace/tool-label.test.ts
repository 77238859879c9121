import { expect, test } from 'vitest'
import { repositoryName, toolLabel } from './tool-label.ts'

test('a repository is named by owner and name, and never by its path on the host', () => {
  expect(repositoryName('/srv/data/repos/sample/invoice')).toBe('sample/invoice')
  expect(repositoryName('/srv/data/sample/invoice.git/')).toBe('sample/invoice')
  expect(repositoryName('https://github.com/acme/shop.git')).toBe('acme/shop')
  expect(repositoryName('git@github.com:acme/shop.git')).toBe('acme/shop')
})

test('actions of the service have words, tools of the agent their names', () => {
  expect(toolLabel('git_clone', false)).toBe('Cloned')
  expect(toolLabel('git_clone', true)).toBe('Clone')
  expect(toolLabel('shell', true)).toBe('shell')
  expect(toolLabel('constructor', false)).toBe('constructor')
  expect(toolLabel(null, false)).toBe('tool')
})
