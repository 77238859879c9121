import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeGitea, startFakeGitea } from '../../forge/fake-gitea.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { pollNow } from '../../forge/poll.ts'
import { type App, rows, startApp } from '../../start-app.ts'

/** Polls several repositories of several forges, some of which respond wrongly. */
let app: App
let github: FakeGitHub
let gitea: FakeGitea
let gitea_repo: number
beforeAll(async () => {
  github = await startFakeGitHub()
  gitea = await startFakeGitea()
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  const at = `/v1/organizations/${app.org_id}`
  await app.call('PUT', `${at}/integrations/github`, { url: github.url, token: github.token })
  await app.call('PUT', `${at}/integrations/gitea`, { url: gitea.url, token: gitea.token })
  gitea_repo = (await app.call('POST', `${at}/repos`, { url: `${gitea.url}/acme/app.git` })).body.id
  for (const name of ['app', 'two', 'three'])
    await app.call('POST', `${at}/repos`, { url: `${github.url}/acme/${name}.git` })
})
afterAll(async () => {
  expect([...github.mistakes, ...gitea.mistakes]).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
  await gitea[Symbol.asyncDispose]()
})

const CHANGED = 'GET /repos/{owner}/{repo}/issues'
beforeEach(async () => {
  await endOfRound()
  github.requests.length = 0
})

/**
 * The second poll belongs to a later round than any that has begun before, and a round ends before the next.
 */
async function endOfRound(): Promise<void> {
  await pollNow(app, gitea_repo)
  await pollNow(app, gitea_repo)
}

async function pollGitHub(): Promise<void> {
  const { length } = github.requests
  await rows(app, `update repositories set forge_seen_at = '-infinity' where url like $1`, [
    `${github.url}/%`,
  ])
  await expect.poll(() => github.requests.length, { timeout: 30_000 }).toBeGreaterThan(length)
  await endOfRound()
}

test('an unreadable response stops no other poll', async () => {
  github.play(CHANGED, { kind: 'other', type: 'application/json', text: '{}' })
  await pollGitHub()
  expect(github.count(CHANGED)).toBe(3)
}, 90_000)

const due = () => rows(app, `update repositories set forge_seen_at = '-infinity' where url like '%/acme/%'`)

test('a slow forge delays no other', async () => {
  const [opened, open] = latch()
  github.play(CHANGED, ...[1, 2, 3].map(() => ({ kind: 'hold', until: opened }) as const))
  const poll_request = github.requestOf(CHANGED)
  gitea.requests.length = 0
  await due()
  await poll_request
  await expect.poll(() => gitea.requests.length, { timeout: 10_000 }).toBeGreaterThan(0)
  expect(github.count(CHANGED)).toBe(1)
  open()
}, 60_000)

test('nothing is polled while the name of the service account is unknown, and it is determined later', async () => {
  await rows(app, `update forges set login = null where kind = 'gitea'`)
  const until = () => rows(app, 'select forge_seen_until from repositories where id = $1', [gitea_repo])
  const before = await until()
  gitea.requests.length = 0
  for (const seen of [3, 6]) {
    await due()
    await expect.poll(() => github.count(CHANGED), { timeout: 30_000 }).toBe(seen)
  }
  expect([gitea.requests, await until()]).toEqual([[], before])
  await rows(app, `update forges set login = 'agent-bot' where kind = 'gitea'`)
  await pollNow(app, gitea_repo)
}, 90_000)

test('a rate-limited connection is not polled for the time that the forge requests, and no other is delayed', async () => {
  github.play(CHANGED, { kind: 'secondary_limit', seconds: 600 })
  await pollGitHub()
  await rows(app, `update repositories set forge_seen_at = '-infinity' where url like $1`, [
    `${github.url}/%`,
  ])
  await endOfRound()
  expect(github.count(CHANGED)).toBe(1)
}, 90_000)

function latch(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>()
  return [promise, resolve]
}
