import { expect, test } from 'vitest'
import { giteaForge } from '../../src/forge/gitea/gitea.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import { ForgeError, type RemoteForge } from '../../src/forge/port.ts'
import { startFakeGitea } from './fake-gitea.ts'
import { startFakeGitHub } from './fake-github.ts'
import { fill, type Path, ReplayedForge, repo, since } from './replayed-forge.ts'

/** Objects whose fields are read. Of a list that is its first item. */
const NESTED = [
  'head',
  'base',
  'user',
  'app',
  'output',
  'creator',
  'actor',
  'label',
  'labels',
  'check_runs',
  'nodes',
  'data',
]

/** The fields of a response, without the addresses of other resources. */
function pathsOf(data: unknown): Path[] {
  if (typeof data !== 'object' || data === null) return []
  if (Array.isArray(data))
    return data.length === 0 ? [] : [[0], ...pathsOf(data[0]).map((path): Path => [0, ...path])]
  const fields = Object.entries(data).filter(([key]) => key === 'html_url' || !key.endsWith('_url'))
  return fields.flatMap(([key, value]): Path[] => [
    [key],
    ...(NESTED.includes(key) ? pathsOf(value).map((path): Path => [key, ...path]) : []),
  ])
}

const reads = (forge: RemoteForge, sha: string): Record<string, () => Promise<unknown>> => ({
  identity: () => forge.identity(),
  findPullRequest: () => forge.findPullRequest(repo, 'one'),
  getPullRequest: () => forge.getPullRequest(repo, 100),
  updatePullRequest: () => forge.updatePullRequest(repo, 100, { body: 'words' }),
  setDraft: async () => forge.setDraft(repo, await forge.getPullRequest(repo, 100), true),
  createComment: () => forge.createComment(repo, 100, 'hello'),
  listComments: () => forge.listComments(repo, 100),
  listChanged: () => forge.listChanged(repo, since),
  getSubject: () => forge.getSubject(repo, 1),
  listMentions: async () =>
    forge.listMentions(repo, await forge.getSubject(repo, 1), { name: 'agent', since, withdrawn: true }),
  listChecks: () => forge.listChecks(repo, sha),
  permissionOf: () => forge.permissionOf(repo, 'ada'),
  listRepositories: () => forge.listRepositories(10),
})

const VALUES = [undefined, 7, 'nonsense']

/** Returns the outcome of every read with every field of each of its responses damaged. */
async function outcomes(replay: ReplayedForge, forge: RemoteForge, sha: string, name: string) {
  const found = { ok: 0, answer: new Set<string>(), other: 0 }
  for (const [method, read] of Object.entries(reads(forge, sha))) {
    replay.damage = null
    replay.kept.clear()
    await read()
    for (const [at, { text }] of [...replay.kept])
      for (const path of pathsOf(JSON.parse(text || 'null')))
        for (const value of VALUES) {
          replay.damage = { at, path, value }
          const where = `${method}: ${path.join('.')} = ${JSON.stringify(value)}`
          const result = await read().then(
            result => ({ result }),
            error => ({ error }),
          )
          if ('result' in result) {
            found.ok++
            // An invalid date fails here, as it would in a statement.
            expect(() => JSON.stringify(result.result, invalidDates), where).not.toThrow()
          } else {
            expect(result.error, where).toBeInstanceOf(ForgeError)
            expect(result.error.message, where).toContain(name)
            if (result.error.code !== 'answer') found.other++
            else if (new RegExp(`\\b${path.at(-1)}\\b`).test(result.error.message))
              found.answer.add(`${method} ${path.join('.')}`)
          }
        }
  }
  return found
}

function invalidDates(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key]
  if (original instanceof Date && Number.isNaN(original.getTime()))
    throw new Error(`${key} is an invalid date`)
  return value
}

test('whatever GitHub leaves out or reports as another type: read without it, or an error that names it', async () => {
  await using github = await startFakeGitHub()
  const replay = new ReplayedForge()
  const settings = {
    origin: github.url,
    fetch: replay.fetch,
    user_agent: 'agentrun/test',
    credentials: { token: github.token },
  }
  const forge = githubForge(settings)
  const sha = await fill(github.folder, github.state, forge)
  const { ok, answer, other } = await outcomes(replay, forge, sha, 'GitHub')
  expect(ok).toBeGreaterThan(500)
  expect(other).toBeLessThan(20)
  for (const field of [
    'getPullRequest head.sha',
    'findPullRequest 0.base.ref',
    'getPullRequest number',
    'listChecks check_runs.0.status',
  ])
    expect([...answer]).toContain(field)
  for (const field of [
    'getPullRequest merged_at',
    'getPullRequest title',
    'getPullRequest draft',
    'getSubject labels',
    'listComments 0.body',
  ])
    expect([...answer]).not.toContain(field)
})

test('whatever Gitea leaves out or reports as another type: read without it, or an error that names it', async () => {
  await using gitea = await startFakeGitea()
  const replay = new ReplayedForge()
  const forge = giteaForge({
    url: gitea.url,
    token: gitea.token,
    fetch: replay.fetch,
    user_agent: 'agentrun/test',
  })
  const sha = await fill(gitea.folder, gitea.state, forge)
  const { ok, answer, other } = await outcomes(replay, forge, sha, 'Gitea')
  expect(ok).toBeGreaterThan(200)
  expect(other).toBeLessThan(20)
  for (const field of ['getPullRequest number', 'getPullRequest state', 'listChecks 0.status'])
    expect([...answer]).toContain(field)
  for (const field of [
    'getPullRequest merged_at',
    'getPullRequest title',
    'getPullRequest merged',
    'getSubject labels',
  ])
    expect([...answer]).not.toContain(field)
})
