import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { GitRepository } from '../../../src/git/git-repository.ts'
import { mirrorState } from '../../../src/git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import { runGit } from '../../../src/git/process/run-git.ts'
import { pushBranch } from '../../../src/git/publish/push.ts'
import { resolveRef } from '../../../src/git/read/revisions.ts'
import {
  addHook,
  type GitFixture,
  makeBare,
  makeRepository,
  openGitFixture,
  run,
  runText,
} from '../repositories.ts'
import { type GitServer, type Intercept, startGitServer } from './git-server.ts'

const BRANCH = 'agent/run-1-task'

/** A fixture with a bare repository `acme/app.git` and a server for it. */
async function setUp(
  intercept?: Intercept,
  hold?: (request: IncomingMessage) => Promise<void>,
): Promise<AsyncDisposable & { fixture: GitFixture; server: GitServer; bare: string; repo: GitRepository }> {
  const fixture = await openGitFixture()
  const bare = await makeBare(
    join(fixture.dir, 'served', 'acme', 'app.git'),
    await makeRepository(join(fixture.dir, 'source')),
  )
  const server = await startGitServer(join(fixture.dir, 'served'), intercept, hold)
  return {
    fixture,
    server,
    bare,
    repo: { id: 1, kind: 'http', url: `${server.url}/acme/app.git` },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

test('a repository is fetched from and pushed to over HTTP', async () => {
  await using set = await setUp()
  const { fixture, repo, bare } = set
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ default_branch: 'main', changed: true })
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ changed: false })
  const base = await resolveRef(fixture.host, 1, null)
  if (!base || 'empty' in base) throw new Error('no base')
  expect(await pushBranch(fixture.host, repo, base.sha, BRANCH)).toEqual({ status: 'pushed' })
  expect(await pushBranch(fixture.host, repo, base.sha, BRANCH)).toEqual({ status: 'up_to_date' })
  expect(await runText(bare, 'git', ['rev-parse', BRANCH])).toBe(base.sha)
})

test('callers who need a later state of the remote share the next fetch, not the one that has read it', async () => {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using set = await setUp(undefined, async ({ method }) => {
    if (method === 'GET') return
    arrived.resolve()
    await released.promise
  })
  const { fixture, repo, bare, server } = set
  const early = refreshMirror(fixture.host, repo)
  await arrived.promise
  await run(bare, 'git', ['branch', '-m', 'main', 'trunk'])
  const since = Date.now()
  const late = Array.from({ length: 4 }, () => refreshMirror(fixture.host, repo, { since }))
  const impatient = refreshMirror(fixture.host, repo, { since, wait_ms: 1 })
  await expect(impatient).rejects.toMatchObject({ code: 'timeout' })
  const shared = refreshMirror(fixture.host, repo)
  released.resolve()
  expect(await Promise.all([early, shared])).toMatchObject([
    { default_branch: 'main' },
    { default_branch: 'main' },
  ])
  const states = await Promise.all(late)
  expect(new Set(states).size).toBe(1)
  expect(states[0]).toMatchObject({ default_branch: 'trunk' })
  expect(Date.parse((await mirrorState(fixture.host, 1))?.refreshed_at ?? '')).toBeGreaterThanOrEqual(since)
  // The first one lists the refs of the remote and then fetches them; nothing is left to fetch for the other.
  expect(server.requests.filter(request => request.startsWith('GET'))).toHaveLength(3)
})

test('a mirror counts from when the fetch began to read the remote', async () => {
  const sent = Promise.withResolvers<number>()
  await using set = await setUp(undefined, async ({ method }) => {
    if (method === 'POST') sent.resolve(Date.now())
  })
  const { refreshed_at } = await refreshMirror(set.fixture.host, set.repo)
  expect(Date.parse(refreshed_at)).toBeLessThanOrEqual(await sent.promise)
})

test('the message of a refusing hook behind HTTP is reported', async () => {
  await using set = await setUp()
  const { fixture, repo, bare } = set
  await refreshMirror(fixture.host, repo)
  await addHook(bare, 'update', 'echo "frozen until Monday"; exit 1')
  const sha = await runText(bare, 'git', ['rev-parse', 'main'])
  await expect(pushBranch(fixture.host, repo, sha, BRANCH)).rejects.toMatchObject({
    code: 'rejected',
    message: expect.stringMatching(/hook declined\)\nfrozen until Monday/),
  })
})

test('a diverged branch is not overwritten', async () => {
  await using set = await setUp()
  const { fixture, repo, bare } = set
  const other = await runText(bare, 'git', ['commit-tree', '-m', 'other', 'main^{tree}'])
  await run(bare, 'git', ['update-ref', `refs/heads/${BRANCH}`, other])
  await refreshMirror(fixture.host, repo)
  const sha = await runText(bare, 'git', ['rev-parse', 'main'])
  await expect(pushBranch(fixture.host, repo, sha, BRANCH)).rejects.toMatchObject({ code: 'rejected' })
  expect(await runText(bare, 'git', ['rev-parse', BRANCH])).toBe(other)
})

test('no branch but that of a run is ever pushed', async () => {
  await using set = await setUp()
  const { fixture, repo, server } = set
  const { sha } = (await refreshMirror(fixture.host, repo).then(() => resolveRef(fixture.host, 1, null))) as {
    sha: string
  }
  const before = server.requests.length
  for (const branch of [
    'main',
    'refs/heads/agent/run-1',
    'agent/run-',
    'agent/run-1',
    'agent/run-x-1',
    'agent/run-1-..x',
    'agent/run-1-a x',
    'agent/run-1-a:main',
    '+main',
    'agent/xrun-1-a',
    'agent/run-1-a\n',
  ])
    await expect(pushBranch(fixture.host, repo, sha, branch), branch).rejects.toMatchObject({
      code: 'failed',
    })
  for (const wrong of ['main', '', '+main', sha.slice(0, 10), `${sha}:refs/heads/main`])
    await expect(pushBranch(fixture.host, repo, wrong, BRANCH), wrong).rejects.toMatchObject({
      code: 'failed',
    })
  expect(server.requests.length).toBe(before)
})

const responses: [what: string, code: string, intercept: Intercept][] = [
  ['no such repository', 'not_found', (_, response) => Boolean(response.writeHead(404).end('not here'))],
  [
    'a request for credentials',
    'auth',
    (_, response) => Boolean(response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()),
  ],
  ['a refusal', 'auth', (_, response) => Boolean(response.writeHead(403).end())],
  ['an error of the server', 'unreachable', (_, response) => Boolean(response.writeHead(503).end())],
  [
    'a web page',
    'not_a_repository',
    (_, response) =>
      Boolean(
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>\n<title>x</title>\n'),
      ),
  ],
  ['a closed connection', 'unreachable', request => Boolean(request.socket.destroy())],
]
for (const [what, code, intercept] of responses) {
  test(`${what} is distinguished (${code}), within bounds, and leaves no mirror`, async () => {
    await using set = await setUp(intercept)
    const error = await refreshMirror(set.fixture.host, set.repo).catch(error => error)
    expect(error).toMatchObject({ name: 'GitError', code })
    expect(error.message.length).toBeLessThan(800)
    expect(error.message).not.toContain(set.fixture.dir)
    expect(await mirrorState(set.fixture.host, 1)).toBeNull()
  })
}

test('a redirect is not followed', async () => {
  let inner = ''
  await using inside = await startGitServer('/nonexistent')
  inner = inside.url
  await using set = await setUp((request, response) =>
    Boolean(response.writeHead(302, { location: `${inner}${request.url}` }).end()),
  )
  await expect(refreshMirror(set.fixture.host, set.repo)).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('redirects'),
  })
  expect(inside.requests).toEqual([])
})

test('a port without a listener is unreachable', async () => {
  await using fixture = await openGitFixture()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const repo: GitRepository = { id: 1, kind: 'http', url: `http://127.0.0.1:${port}/a/b.git` }
  await expect(refreshMirror(fixture.host, repo)).rejects.toMatchObject({
    code: 'unreachable',
    retryable: true,
  })
  await expect(
    refreshMirror(fixture.host, { ...repo, kind: 'https', url: repo.url.replace('http:', 'https:') }),
  ).rejects.toMatchObject({
    code: 'unreachable',
  })
})

test('a server that never responds costs the time limit and no more', async () => {
  await using set = await setUp(() => true)
  await expect(refreshMirror(set.fixture.host, set.repo, { timeout_ms: 300 })).rejects.toMatchObject({
    code: 'timeout',
  })
})

test('a server that stops in the middle of the objects costs the time limit and leaves no mirror', async () => {
  await using set = await setUp(
    (request, response) =>
      request.method === 'POST' &&
      Boolean(response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' }).write('0')),
  )
  await expect(refreshMirror(set.fixture.host, set.repo, { timeout_ms: 500 })).rejects.toMatchObject({
    code: 'timeout',
  })
  expect(await mirrorState(set.fixture.host, 1)).toBeNull()
})

test('a connection uses the address that was checked, despite later changes of the name server', async () => {
  await using set = await setUp()
  const { port } = new URL(set.server.url)
  const listed = await runGit(set.fixture.host, {
    args: ['ls-remote', '--', `http://git.example.invalid:${port}/acme/app.git`],
    protocols: 'http',
    config: { 'http.curloptResolve': `git.example.invalid:${port}:127.0.0.1` },
  })
  expect(listed).toMatchObject({ exit_code: 0, stderr: '' })
  expect(set.server.requests).toContain('GET /acme/app.git/info/refs?service=git-upload-pack')
})

test('private addresses are refused before a connection is opened unless the operator allows them', async () => {
  await using fixture = await openGitFixture({ allow_private: false })
  await using server = await startGitServer(fixture.dir)
  const port = new URL(server.url).port
  for (const url of [`https://127.0.0.1:${port}/a/b`, `https://localhost:${port}/a/b`]) {
    await expect(refreshMirror(fixture.host, { id: 1, kind: 'https', url })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('private'),
    })
    await expect(
      pushBranch(fixture.host, { id: 1, kind: 'https', url }, 'f'.repeat(40), BRANCH),
    ).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('private'),
    })
  }
  await expect(
    refreshMirror(fixture.host, { id: 1, kind: 'ssh', url: 'git@localhost:a/b' }),
  ).rejects.toMatchObject({ code: 'unreachable' })
  expect(server.requests).toEqual([])
})

test('no transport but that of the repository can be reached', async () => {
  await using fixture = await openGitFixture()
  const marker = join(fixture.dir, 'ran')
  for (const url of [
    `ext::sh -c touch% ${marker}`,
    `file://${fixture.dir}`,
    fixture.dir,
    'git://127.0.0.1/x',
  ])
    await expect(refreshMirror(fixture.host, { id: 1, kind: 'https', url })).rejects.toThrow()
  await expect(runText('/', 'cat', [marker])).rejects.toThrow()
})

test('a repository with credentials is reached with them, in the environment of that one process, for its own server only', async () => {
  const requested: { url: string; authorization: string | undefined }[] = []
  const password = 'a-token-of-the-forge'
  await using set = await setUp((request, response) => {
    requested.push({ url: request.url ?? '', authorization: request.headers.authorization })
    if (request.headers.authorization === `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`)
      return false
    response
      .writeHead(401, { 'www-authenticate': 'Basic realm="git"' })
      .end(`no: ${request.headers.authorization}`)
    return true
  })
  const { fixture, repo, server, bare } = set
  let given: { username: string; password: string } | null = null
  await using host = await openGitHost({
    data_dir: join(fixture.dir, 'data'),
    user: fixture.host.user,
    allow_private: true,
    credentials: async ({ id }) => (id === repo.id ? given : null),
  })
  await expect(refreshMirror(host, repo)).rejects.toMatchObject({ code: 'auth' })
  given = { username: 'ada', password: 'a-wrong-token' }
  const refused = await refreshMirror(host, repo).catch(error => error)
  expect(refused).toMatchObject({ code: 'auth' })
  for (const secret of ['a-wrong-token', Buffer.from('ada:a-wrong-token').toString('base64')])
    expect(String(refused.message)).not.toContain(secret)

  given = { username: 'ada', password }
  await refreshMirror(host, repo)
  const base = await resolveRef(host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  expect(await pushBranch(host, repo, base.sha, BRANCH)).toEqual({ status: 'pushed' })
  expect(await runText(bare, 'git', ['rev-parse', BRANCH])).toBe(base.sha)

  // Another repository of the same server, and anything that the mirror keeps: nothing.
  requested.length = 0
  await expect(
    refreshMirror(host, { id: 2, kind: 'http', url: `${server.url}/acme/other.git` }),
  ).rejects.toMatchObject({ code: 'auth' })
  expect(requested.map(request => request.authorization)).toEqual([undefined])
  const kept = await run(join(fixture.dir, 'data'), 'grep', ['-rlF', '--', password, '.']).catch(error =>
    String(error),
  )
  expect(kept).toMatch(/^Error: grep/)
})
