import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeResponse } from '../../model/fake-server.ts'
import { testFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, makeRepository, shell, startCodingApp } from '../coding-app.ts'

let app: CodingApp
let script: FakeResponse[] = []
const library = testFolder()
const at = (path: string) => `/v1/organizations/${app.org_id}${path}`

/** The library at two commits, in a bundle of the repository, and the repository at the first of them. */
function addLibrary(): [first: string, second: string] {
  gitIn(library, 'init', '--quiet', '--initial-branch=main')
  const commits = ['first', 'second'].map(text => {
    writeFileSync(join(library, 'lib.txt'), `${text}\n`)
    gitIn(library, 'add', '.')
    gitIn(library, 'commit', '--quiet', '-m', text)
    return gitIn(library, 'rev-parse', 'HEAD').trim()
  })
  gitIn(library, 'bundle', 'create', '--quiet', join(app.repository, 'lib.bundle'), 'main')
  writeFileSync(
    join(app.repository, '.gitmodules'),
    '[submodule "lib"]\n\tpath = lib\n\turl = /tmp/lib.git\n',
  )
  app.git('add', '.')
  const [first = '', second = ''] = commits
  return [first, second]
}

function commitLibraryAt(sha: string) {
  app.git('update-index', '--add', '--cacheinfo', `160000,${sha},lib`)
  app.git('commit', '--quiet', '-m', `library at ${sha}`)
}

beforeAll(async () => {
  app = await startCodingApp(
    () => script.shift() ?? { text: 'Done.' },
    {},
    makeRepository({ 'a.txt': 'a\n' }),
  )
})
afterAll(() => app[Symbol.asyncDispose]())

async function work(command: string) {
  script = [calls(shell(command)), { text: 'Done.' }]
  const { id } = await createRun(app, { prompt: 'work' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.slice(-2))).toMatchObject({ status: 'completed' })
  const of = (name: string) => logs.filter(entry => entry.tool_name === name)
  return {
    run,
    made: of('environment')[0]?.tool_output.made,
    output: of('shell')[0].tool_output.output,
    checks: of('check'),
  }
}

test('submodules that setup commands check out are available to every run and its checks, at the commit that the base names', async () => {
  const [first, second] = addLibrary()
  commitLibraryAt(first)
  const commands = [
    'git clone --quiet --bare lib.bundle /tmp/lib.git',
    'git -c protocol.file.allow=always submodule update --init',
  ]
  await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands })
  const checks = [{ name: 'library', command: 'git submodule status >&2 && grep -q . lib/lib.txt' }]
  expect((await app.call('PUT', at(`/repos/${app.repo_id}/checks`), { checks })).status).toBe(200)
  const poll = 'cat lib/lib.txt; git status --porcelain; git submodule status | cut -c1-41; echo x >mine.txt'
  for (const made of [true, false]) {
    const one = await work(poll)
    expect(one).toMatchObject({
      made,
      output: `first\n ${first}\n`,
      checks: [{ tool_output: { conclusion: 'success' } }],
    })
    expect(app.git('diff', '--name-only', 'main', one.run.branch)).toBe('mine.txt\n')
  }
  // Only the library differs.
  commitLibraryAt(second)
  const other = await work(poll)
  expect(other).toMatchObject({ made: true, output: `second\n ${second}\n` })
  expect(app.git('diff', '--name-only', 'main', other.run.branch)).toBe('mine.txt\n')
  // The stored files of the run are restored next to them.
  for (const name of readdirSync(join(app.data_dir, 'workspaces')))
    rmSync(join(app.data_dir, 'workspaces', name), { recursive: true })
  script = [
    calls(
      shell('cat lib/lib.txt mine.txt; git status --porcelain; git -C lib rev-parse HEAD; echo y >mine.txt'),
    ),
    { text: 'Again.' },
  ]
  await app.call('POST', at(`/agent/run/${other.run.id}/resume`), { prompt: 'again' })
  expect(await awaitEnd(app, other.run.id)).toMatchObject({ status: 'completed' })
  const again = (await allLogs(app, other.run.id)).findLast(entry => entry.tool_name === 'shell')
  expect(again.tool_output.output).toBe(`second\nx\n${second}\n`)
}, 90_000)
