import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../temporary-folder.ts'
import { awaitEnd, createRun } from './await-run.ts'
import { type CodingApp, calls, finish, makeRepository, shell, startCodingApp } from './coding-app.ts'

/**
 * Which processes of git a run starts on the host, in each of its phases; those that git starts itself are
 * not included, nor those of checkpoints, nor the one command in the sandbox that commits
 * (test/git/workspace/process-counts.test.ts). A commit that adds one states why it is worth it.
 */
const PUBLISH = [
  // The import, which reads for the review what it checks.
  ...['index-pack', 'cat-file', 'rev-list'],
  // The changes of the branch, and its commits.
  ...['diff', 'log'],
  // The second is the remote's own.
  ...['push', 'receive-pack'],
  // What was pushed enters the mirror.
  ...['pack-objects', 'update-ref'],
]
/**
 * In a later turn also: whether the branch is built on, and what is new since the last push. The commit of
 * the turn before is in the mirror.
 */
const PUBLISH_AGAIN = [...PUBLISH, 'merge-base', 'diff', 'log', 'rev-list', 'cat-file']

let app: CodingApp
const folder = testFolder()
const log = join(folder, 'log')
/** Where the log was at each request of the model. */
let requests: number[] = []
let steps = 0

const called = () => readFileSync(log, 'utf8').split('\n').slice(0, -1)
const since = (from: number, to?: number) =>
  called()
    .slice(from, to)
    .filter(call => !call.endsWith('/checkpoints'))
    .map(call => call.split(' ')[0])
    .sort()

beforeAll(async () => {
  writeFileSync(log, '')
  const program = join(folder, 'git')
  const lines = [
    '#!/bin/sh',
    `echo "$1 \${GIT_DIR%/*}" >>${log}`,
    'exec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git "$@"',
  ]
  writeFileSync(program, `${lines.join('\n')}\n`)
  chmodSync(log, 0o666)
  chmodSync(program, 0o755)
  app = await startCodingApp(
    () => {
      requests.push(called().length)
      return steps-- > 0 ? calls(shell(`echo ${steps} >>work.txt`)) : finish('Done.')
    },
    {},
    makeRepository(),
    { git_path: `${folder}:/usr/local/bin:/usr/bin:/bin` },
  )
  // Fetches the mirror, and prepares the checkout that later runs share.
  await play(1)
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => {
  requests = []
})

async function play(count: number) {
  steps = count
  const from = called().length
  const { id } = await createRun(app, { prompt: 'work' })
  const run = await awaitEnd(app, id)
  expect(run.status).toBe('completed')
  return { run, from }
}

test('a run that writes, pushes and opens a pull request starts nine processes of git, all at its end', async () => {
  const { run, from } = await play(3)
  expect(run.github_pull_requests).toMatchObject([{ state: 'open' }])
  const last = requests.at(-1)
  expect({ until_the_end: since(from, last), at_the_end: since(last ?? 0) }).toEqual({
    until_the_end: [],
    at_the_end: [...PUBLISH].sort(),
  })
})

test('a further turn that pushes again starts five more', async () => {
  const { run } = await play(1)
  steps = 1
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: run.id,
    prompt: 'more',
  })
  await expect.poll(() => requests.length).toBeGreaterThan(2)
  const ended = await awaitEnd(app, run.id)
  expect(ended.turn).toBe(2)
  expect(since(requests.at(-1) ?? 0)).toEqual([...PUBLISH_AGAIN].sort())
})

test('a run without a change starts none', async () => {
  const { from } = await play(0)
  expect(since(from)).toEqual([])
})
