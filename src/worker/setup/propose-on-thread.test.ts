import { expect, test } from 'vitest'
import { propose } from '../../setup-detection/propose.ts'
import { proposeOnThread } from './propose-on-thread.ts'

const { signal } = new AbortController()
const how = { organization_id: 1, log: () => {}, signal }
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
  const proposal = await proposeOnThread({ tree, toolchain }, how)
  expect(proposal).toEqual(propose(tree, toolchain))
  expect(proposal.ecosystems).toEqual(['node', 'python'])
})

test('the event loop is free while slow files are read', async () => {
  const slow = `a: [${'{},'.repeat(20_000)}]`
  const workflows = Array.from({ length: 5 }, (_, n) => [`.github/workflows/${n}.yml`, slow])
  const tree = treeOf({ 'package.json': '{}', ...Object.fromEntries(workflows) })
  let turns = 0
  const counter = setInterval(() => turns++, 1)
  const proposal = await proposeOnThread({ tree, toolchain }, how)
  clearInterval(counter)
  expect(proposal.ecosystems).toEqual(['node'])
  expect(turns).toBeGreaterThan(20)
})

test('slow files of an organization delay no other one', async () => {
  const slow = `a: [${'{},'.repeat(20_000)}]`
  const workflows = Array.from({ length: 60 }, (_, n) => [`.github/workflows/${n}.yml`, slow])
  const abort = new AbortController()
  let ended = 0
  const hostile = Array.from({ length: 8 }, () =>
    proposeOnThread(
      { tree: treeOf(Object.fromEntries(workflows)), toolchain },
      { ...how, signal: abort.signal },
    ).finally(() => ended++),
  )
  const tree = treeOf({ 'package.json': '{}' })
  const proposal = await proposeOnThread({ tree, toolchain }, { ...how, organization_id: 2 })
  expect(proposal.ecosystems).toEqual(['node'])
  expect(ended).toBe(0)
  abort.abort(new Error('not wanted'))
  for (const each of await Promise.allSettled(hostile)) expect(each.status).toBe('rejected')
})

test('a thread that fails leaves the rules without files, a note with the reason, and a line in the log', async () => {
  const tree = { paths: null as never, files: new Map() }
  const lines: unknown[] = []
  const log = (...line: unknown[]) => lines.push(line)
  const proposal = await proposeOnThread({ tree, toolchain }, { ...how, log })
  expect(proposal).toMatchObject({
    ecosystems: [],
    commands: [],
    notes: [expect.stringContaining('because the service failed')],
  })
  expect(lines).toEqual([
    [
      'error',
      'setup commands could not be proposed',
      { why: 'error', error: expect.stringContaining('null') },
    ],
  ])
})
