import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ForgeApp, type Proposal, startForgeApp } from '../api/repositories/proposals.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runCli } from './run-cli.ts'

let app: ForgeApp
let pr: Proposal
beforeAll(async () => {
  app = await startForgeApp()
  pr = await app.propose({ 'c.txt': 'c\n' })
})
afterAll(() => app[Symbol.asyncDispose]())

const cli = (args: string[], input?: string) =>
  runCli(['pr', ...args], {
    env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token },
    ...(input !== undefined && { input }),
  })

test('pull requests are listed, and one is shown with its commits and its change', async () => {
  const { id, run_id, branch, head_sha } = pr
  expect((await cli(['list', '--run', String(run_id)])).out).toMatch(
    new RegExp(`^ID .*\n${id} +#1 +${app.repo_id} +open +${branch} +Change ${run_id}\n$`),
  )
  expect(JSON.parse((await cli(['list', '--state', 'merged', '--json'])).out)).toMatchObject({ total: 0 })
  const shown = (await cli(['show', String(id)])).out
  for (const words of [
    `${id} (#1) Change ${run_id}`,
    'state    open',
    `branch   ${branch} into main`,
    head_sha,
    '\n\nBecause.\n',
  ])
    expect(shown).toContain(words)
  expect((await cli(['commits', String(id)])).out).toMatch(
    new RegExp(`^${head_sha.slice(0, 12)}  \\S+  Ada  change ${branch}\n$`),
  )
  expect((await cli(['diff', String(id)])).out).toContain('+++ b/c.txt\n@@ -0,0 +1 @@\n+c\n')
})

test('comments are created and listed, without control sequences for the terminal', async () => {
  const id = String(pr.id)
  const made = await cli(
    ['comment', id, '-', '--path', 'c.txt', '--line', '1'],
    'Why \u001b[31mred\u001b[0m?\nAnd more.\n',
  )
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ {2}Administrator {2}c\.txt:1\n {4}Why red\?\n {4}And more\.\n$/),
  })
  expect((await cli(['comments', id])).out).toBe(made.out)
})

test('one is edited, drafted, opened, closed, reopened and merged', async () => {
  const { id } = await app.propose({ 'd.txt': 'd\n' })
  using folder = temporaryFolder()
  const file = join(folder.path, 'body.md')
  writeFileSync(file, 'Described better.\n')
  expect((await cli(['edit', String(id), '--title', 'Another', '--body-file', file])).out).toMatch(
    /\) Another\n[\s\S]*\n\nDescribed better\.\n/,
  )
  for (const [act, state] of [
    ['draft', 'draft'],
    ['ready', 'open'],
    ['close', 'closed'],
    ['reopen', 'open'],
  ])
    expect((await cli([act ?? '', String(id)])).out).toContain(`state    ${state}`)
  expect((await cli(['merge', String(id), '--squash'])).out).toContain('state    merged')
  expect(app.git('rev-list', '--count', '--min-parents=2', 'main')).toBe('0')
  expect(await cli(['draft', String(id)])).toMatchObject({ code: 1, err: expect.stringContaining('merged') })
})

test('merges the shown head, or the named one', async () => {
  const { id, branch, head_sha } = await app.propose({ 'e.txt': 'e\n' })
  expect((await cli(['show', String(id)])).out).toContain(head_sha)
  const pushed = app.put(branch, { 'e.txt': 'unseen\n' })
  expect(await cli(['merge', String(id)])).toMatchObject({
    code: 1,
    err: expect.stringContaining(`is at ${pushed} now, not at ${head_sha}`),
  })
  expect(await cli(['merge', String(id), '--head', head_sha])).toMatchObject({
    code: 1,
    err: expect.stringContaining('review the newer change'),
  })
  expect((await cli(['merge', String(id), '--head', pushed])).out).toContain('state    merged')
})

test('reports what is missing', async () => {
  for (const args of [
    ['show'],
    ['show', 'x'],
    ['comment', '1'],
    ['edit', '1'],
    ['merge', '1', '2'],
    ['review', '1'],
    ['list', '--state', 'gone'],
  ])
    expect({ args, code: (await cli(args)).code }).toEqual({ args, code: 2 })
  expect((await cli(['show', '424242'])).code).toBe(1)
})
