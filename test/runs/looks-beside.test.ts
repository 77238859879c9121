import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeGitea, startFakeGitea } from '../forge/fake-gitea.ts'
import { type FakeGitHub, startFakeGitHub } from '../forge/fake-github.ts'
import { lookNow } from '../forge/look.ts'
import { type App, rows, startApp } from '../start-app.ts'

/** Looks at several repositories of several forges, some of which do not answer as they should. */
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
  for (const name of ['app', 'two', 'three']) await app.call('POST', `${at}/repos`, { url: `${github.url}/acme/${name}.git` })
})
afterAll(async () => {
  expect([...github.mistakes, ...gitea.mistakes]).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
  await gitea[Symbol.asyncDispose]()
})

const CHANGED = 'GET /repos/{owner}/{repo}/issues'
beforeEach(async () => {
  await lookNow(app, gitea_repo)
  github.requests.length = 0
})

/** A round of looks ends before the next, which is that of the other forge. */
async function lookAtGitHub(): Promise<void> {
  const { length } = github.requests
  await rows(app, `update repositories set forge_seen_at = '-infinity' where url like $1`, [`${github.url}/%`])
  await expect.poll(() => github.requests.length, { timeout: 30_000 }).toBeGreaterThan(length)
  await lookNow(app, gitea_repo)
}

test('an answer that nobody can read stops no other look', async () => {
  github.play(CHANGED, { kind: 'other', type: 'application/json', text: '{}' })
  await lookAtGitHub()
  expect(github.count(CHANGED)).toBe(3)
}, 90_000)
