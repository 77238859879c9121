import { expect, test } from 'vitest'
import { propose } from '../../setup-detection/propose.ts'
import { proposeOnThread } from './propose-on-thread.ts'

const { signal } = new AbortController()
const toolchain = new Map([['npm', '']])
const treeOf = (files: Record<string, string>) => ({
  paths: Object.keys(files),
  files: new Map(Object.entries(files)),
})

test('a thread proposes what the rules propose', async () => {
  const tree = treeOf({
    'package.json': '{"scripts":{"test":"node --test"}}',
    'pyproject.toml': '[project]\nname = "a"\n',
    '.github/workflows/ci.yml': 'jobs:\n  test:\n    steps:\n      - run: npm test\n',
  })
  const proposal = await proposeOnThread({ tree, toolchain }, signal)
  expect(proposal).toEqual(propose(tree, toolchain))
  expect(proposal.ecosystems).toEqual(['node', 'python'])
})

test('the event loop is free while slow files are read', async () => {
  const slow = `a: [${'{},'.repeat(20_000)}]`
  const workflows = Array.from({ length: 5 }, (_, n) => [`.github/workflows/${n}.yml`, slow])
  const tree = treeOf({ 'package.json': '{}', ...Object.fromEntries(workflows) })
  let turns = 0
  const counter = setInterval(() => turns++, 1)
  const proposal = await proposeOnThread({ tree, toolchain }, signal)
  clearInterval(counter)
  expect(proposal.ecosystems).toEqual(['node'])
  expect(turns).toBeGreaterThan(20)
})

test('a thread that fails leaves the rules without files, and a note', async () => {
  const tree = { paths: null as never, files: new Map() }
  const proposal = await proposeOnThread({ tree, toolchain }, signal)
  expect(proposal).toMatchObject({
    ecosystems: [],
    commands: [],
    notes: [expect.stringContaining('too long to read')],
  })
})
