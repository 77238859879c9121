import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, renameSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { pktLine } from '../../../src/git/process/pkt-line.ts'
import { rows, startApp } from '../../start-app.ts'
import { addPerson } from '../members/people.ts'
import { startForgeApp } from '../repositories/proposals.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { gitClient } from './git-client.ts'
import { processesIn } from './git-processes.ts'
import { startGit } from './start-git.ts'

const { app, client, mirror } = await startGit()
const inMirror = (...args: string[]) =>
  execFileSync('git', ['-c', 'safe.directory=*', '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
    cwd: mirror,
    encoding: 'utf8',
  }).trim()

describe('git clone and git fetch', () => {
  test('return all branches and tags, as current as in the repository', async () => {
    const { branch, head_sha } = await app.propose({ 'c.txt': 'c\n' })
    app.git('-c', 'user.name=A', '-c', 'user.email=a@x', 'tag', '-a', '-m', 'one', 'v1', 'main')
    await client.ok('.', 'clone', '--quiet', client.address(), 'whole')
    expect(await client.ok('whole', 'rev-parse', 'HEAD')).toBe(app.git('rev-parse', 'main'))
    expect(await client.ok('whole', 'rev-parse', `origin/${branch}`)).toBe(head_sha)
    expect(await client.ok('whole', 'rev-parse', 'v1')).toBe(app.git('rev-parse', 'v1'))
    const newer = app.put(branch, { 'c.txt': 'cc\n' })
    await client.ok('whole', 'fetch', '--quiet', 'origin')
    expect(await client.ok('whole', 'rev-parse', `origin/${branch}`)).toBe(newer)
    await client.ok('whole', 'fsck', '--strict')
  })

  test.each(['0', '1', '2'])('work in protocol version %s', async version => {
    await client.ok(
      '.',
      '-c',
      `protocol.version=${version}`,
      'clone',
      '--quiet',
      client.address(),
      `v${version}`,
    )
    expect(await client.ok(`v${version}`, 'rev-parse', 'HEAD')).toBe(app.git('rev-parse', 'main'))
  })

  test('work for a shallow clone, also when it is deepened later', async () => {
    app.put('main', { 'deep.txt': '1\n' })
    app.put('main', { 'deep.txt': '2\n' })
    await client.ok('.', 'clone', '--quiet', '--depth=1', client.address(), 'shallow')
    expect(await client.ok('shallow', 'rev-list', '--count', 'HEAD')).toBe('1')
    await client.ok('shallow', 'fetch', '--quiet', '--unshallow')
    expect(await client.ok('shallow', 'rev-list', '--count', 'HEAD')).toBe(
      app.git('rev-list', '--count', 'main'),
    )
  })

  test.each(['blob:none', 'tree:0', 'blob:limit=1'])(
    'work for a partial clone with %s, which fetches objects on demand',
    async filter => {
      const folder = filter.replace(/\W/g, '-')
      await client.ok('.', 'clone', '--quiet', `--filter=${filter}`, client.address(), folder)
      expect(await client.ok(folder, 'show', 'HEAD~1:deep.txt')).toBe('1')
      expect((await client.at(folder, 'log', '-p')).code).toBe(0)
    },
  )

  test('refuse an expensive filter', async () => {
    const { err } = await client.run(
      'clone',
      '--quiet',
      '--filter=sparse:oid=main:a.txt',
      client.address(),
      'sparse',
    )
    expect(err).toMatch(/filter .*not (supported|allowed)/)
  })

  test('accept a header instead of a password, and no cookie', async () => {
    const plain = client.address(app.repo_id, null)
    const header = `http.extraHeader=Authorization: Bearer ${app.token}`
    expect((await client.run('-c', header, 'ls-remote', plain)).out).toContain('refs/heads/main')
    const { code } = await client.run(
      '-c',
      `http.extraHeader=Cookie: agentrun_session=${app.token}`,
      'ls-remote',
      plain,
    )
    expect(code).toBe(128)
  })

  test('return the last fetched state while the repository is unavailable', async () => {
    renameSync(app.remote, `${app.remote}.away`)
    try {
      expect((await client.run('clone', '--quiet', client.address(), 'away')).code).toBe(0)
    } finally {
      renameSync(`${app.remote}.away`, app.remote)
    }
  })
})

test('a process fetches a repository at its first request, for every user', async () => {
  const want = pktLine(`want ${app.git('rev-parse', 'main')}\n`)
  const body = Buffer.concat([
    pktLine('command=fetch'),
    Buffer.from('0001'),
    want,
    pktLine('done\n'),
    Buffer.from('0000'),
  ])
  await using other = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    DATABASE_URL: app.database_url,
    AGENTRUN_INIT_REPO_URL: app.remote,
  })
  const result = await fetch(`${other.base_url}/git/${app.org_id}/${app.repo_id}.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/x-git-upload-pack-request',
      'git-protocol': 'version=2',
    },
    body,
  })
  expect([result.status, await result.text()]).toEqual([200, expect.stringContaining('PACK')])
})

describe('hidden objects', () => {
  test('refs of the service are not listed, and objects that only they reach cannot be fetched by name', async () => {
    await client.ok('.', 'ls-remote', client.address())
    const secret = inMirror('commit-tree', '-m', 'not pushed', '-p', 'main', 'main^{tree}')
    inMirror('update-ref', 'refs/agentrun/77/1', secret)
    expect(await client.ok('.', 'ls-remote', client.address())).not.toContain('agentrun')
    await client.ok('.', 'init', '--quiet', 'curious')
    for (const version of ['0', '2'])
      for (const wanted of [secret, 'refs/agentrun/77/1']) {
        const { code, err } = await client.at(
          'curious',
          '-c',
          `protocol.version=${version}`,
          'fetch',
          client.address(),
          wanted,
        )
        expect([code, err]).toEqual([
          128,
          expect.stringMatching(/not part of any branch|unadvertised object|couldn't find remote ref/),
        ])
      }
    // Once a branch contains the object, every reader may fetch it.
    const known = app.git('rev-parse', 'main')
    app.put('main', { 'later.txt': 'x\n' })
    await client.ok('.', 'ls-remote', client.address())
    await client.ok('curious', 'fetch', '--quiet', client.address(), known)
    inMirror('update-ref', '-d', 'refs/agentrun/77/1')
  })
})

describe('permissions', () => {
  const lsRemote = async (token: string | null, repo_id = app.repo_id, org_id = app.org_id) =>
    client.run('ls-remote', client.address(repo_id, token, org_id))

  test('an invalid token: git prompts for another one', async () => {
    const gone = await addPerson(app, 'MEMBER', { expires_in_seconds: 60 })
    expect((await lsRemote(gone.token)).code).toBe(0)
    await rows(app, 'update tokens set expires_at = now() where id = $1', [gone.token_id])
    const revoked = await addPerson(app, 'MEMBER')
    await rows(app, 'update tokens set revoked_at = now() where id = $1', [revoked.token_id])
    for (const token of [null, 'wrong', gone.token, revoked.token, `${app.token}x`]) {
      const { code, err } = await lsRemote(token)
      expect([code, err]).toEqual([
        128,
        expect.stringMatching(/Authentication failed|could not read Username/),
      ])
    }
    const response = await fetch(
      `${app.base_url}/git/${app.org_id}/${app.repo_id}.git/info/refs?service=git-upload-pack`,
    )
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="agentrun", charset="UTF-8"',
    ])
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  test('a reader may fetch, and a token without the scope, of another organization or bound to other repositories may not', async () => {
    const other = await putRepository(app, 'other')
    const reader = await addPerson(app, 'READER')
    expect((await lsRemote(reader.token)).code).toBe(0)
    const blind = await addPerson(app, 'ADMIN', { scopes: ['runs:write'] })
    expect((await lsRemote(blind.token)).err).toContain('This needs the scope repos:read')
    const bound = await addPerson(app, 'ADMIN', { organization_id: app.org_id, repository_ids: [other] })
    expect((await lsRemote(bound.token)).err).toContain('Repository not found.')
    expect((await lsRemote(app.token, app.repo_id, app.org_id + 1)).err).toContain(
      'You do not have access to this organization.',
    )
    expect((await lsRemote(app.token, 999_999)).err).toContain('Repository not found.')
  })

  test('a repository that was never fetched and is unavailable gets an explanation', async () => {
    const nowhere = await putRepository(app, 'nowhere')
    expect((await lsRemote(app.token, nowhere)).err).toContain('does not exist on the machine of the service')
  })
})

describe('a client in the middle of a fetch', () => {
  /** Begins to fetch a repository that fits into no buffer, and reads no more than its first bytes. */
  async function begin(token: string): Promise<IncomingMessage> {
    const requested = request(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-upload-pack`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`git:${token}`).toString('base64')}`,
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
      },
    })
    const want = pktLine(`want ${app.git('rev-parse', 'large')}\n`)
    requested.end(
      Buffer.concat([
        pktLine('command=fetch'),
        Buffer.from('0001'),
        want,
        pktLine('done\n'),
        Buffer.from('0000'),
      ]),
    )
    requested.on('error', () => {})
    const [result] = (await once(requested, 'response')) as [IncomingMessage]
    expect(result.statusCode).toBe(200)
    result.on('error', () => {})
    await once(result, 'readable')
    result.read(1)
    expect(processesIn(app.data_dir).filter(command => /upload-pack|pack-objects/.test(command))).not.toEqual(
      [],
    )
    return result
  }
  beforeAll(async () => {
    app.put('large', { 'large.bin': randomBytes(8 * 1024 ** 2).toString('base64') })
    expect((await client.run('ls-remote', client.address())).out).toContain('refs/heads/large')
  }, 60_000)

  test('that disconnects leaves no process', async () => {
    const result = await begin(app.token)
    result.destroy()
    await expect.poll(() => processesIn(app.data_dir), { timeout: 20_000 }).toEqual([])
    expect(readdirSync(mirror).filter(name => name.startsWith('incoming-'))).toEqual([])
  })

  test('whose token is revoked gets no more data', async () => {
    const { token, token_id } = await addPerson(app, 'READER')
    const result = await begin(token)
    await rows(app, 'update tokens set revoked_at = now() where id = $1', [token_id])
    await expect.poll(() => processesIn(app.data_dir), { timeout: 20_000 }).toEqual([])
    result.resume()
    await expect(once(result, 'end')).rejects.toThrow('aborted')
  })
})

test('a token beyond its rate limit gets that reason from git', async () => {
  await using limited = await startForgeApp({ AGENTRUN_LIMIT_STANDARD: '3/60' })
  using other = gitClient(limited)
  expect((await other.run('ls-remote', other.address())).code).toBe(0)
  const { code, err } = await other.run('clone', other.address(), 'x')
  expect([code, err]).toEqual([128, expect.stringContaining('429')])
})
