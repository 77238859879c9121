import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeGitea } from '../forge/fake-gitea.ts'
import { type FakeGitHub, startFakeGitHub } from '../forge/fake-github.ts'
import { type App, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runCli } from './run-cli.ts'

let app: App
let github: FakeGitHub
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  github = await startFakeGitHub()
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})

const cli = (...args: string[]) =>
  runCli(['integrations', ...args], { env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token } })

test('GitHub is connected by token and as an app, listed with its repositories, and disconnected', async () => {
  expect((await cli()).out).toBe('nothing is connected\n')
  using folder = temporaryFolder()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text)
    return join(folder.path, name)
  }
  const connected = await cli('connect', github.url, '--token-file', file('token', `${github.token}\n`))
  expect(connected).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^connected .* as agent-bot\nstate +works\nwebhooks .*\nsecret +[0-9a-f]{64} /,
    ),
  })
  expect((await cli('list')).out).toMatch(/\ngithub +http:\S+ +agent-bot +works\n$/)
  const as_app = await cli(
    'connect',
    github.url,
    '--app',
    String(github.app.id),
    '--key-file',
    file('key', github.app.private_key),
  )
  expect(as_app.out).toMatch(/ as careful-agent\[bot\]\nstate +works\nwebhooks +\S+\n$/)
  expect((await cli('repositories', github.url, '--limit', '2')).out).toMatch(
    /\nacme\/app +http:\S+app\.git *\nacme\/other-0 /,
  )
  const wrong = await cli('connect', github.url, '--token-file', file('wrong', 'ghp_wrong'))
  expect(wrong).toMatchObject({
    code: 1,
    out: expect.stringContaining('does not work: GitHub responded with 401'),
  })
  expect(await cli('app', github.url, '--owner', 'acme', '--name', 'agents')).toMatchObject({
    out: expect.stringMatching(/^http:\S+\/hooks\/github-app\/manifest\?state=\S+\n$/),
    err: expect.stringContaining('signed in to the service as you, or as another ADMIN'),
  })
  expect((await cli('disconnect', github.url)).out).toBe(`disconnected ${github.url}\n`)
  expect((await cli('disconnect', github.url)).code).toBe(1)
})

test('Gitea is connected by token, listed with its repositories, and disconnected', async () => {
  await using gitea = await startFakeGitea()
  using folder = temporaryFolder()
  const file = join(folder.path, 'token')
  writeFileSync(file, `${gitea.token}\n`)
  const connected = await cli('connect', `${gitea.url}/`, '--gitea', '--token-file', file)
  expect(connected).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ as agent-bot\nstate +works\nwebhooks +\S+\/hooks\/gitea\/\d+\nsecret /),
  })
  expect((await cli('list')).out).toMatch(/\ngitea +http:\S+\/gitea +agent-bot +works\n$/)
  expect((await cli('repositories', gitea.url, '--gitea', '--limit', '2')).out).toMatch(
    /\nacme\/app +http:\S+\/gitea\/acme\/app\.git *\n/,
  )
  expect((await cli('disconnect', gitea.url, '--gitea')).out).toBe(`disconnected ${gitea.url}\n`)
  expect(gitea.mistakes).toEqual([])
})

test('reports missing options', async () => {
  for (const args of [
    ['connect'],
    ['connect', github.url, '--app', '1'],
    ['connect', '--token-file', 'a', '--app', '1'],
    ['list', 'x'],
    ['connect', '--gitea', '--token-file', 'a'],
    ['connect', github.url, '--gitea', '--app', '1', '--key-file', 'a'],
    ['disconnect', '--gitea'],
    ['app', '--gitea'],
    ['send'],
  ])
    expect((await cli(...args)).code).toBe(2)
})
