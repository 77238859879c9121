import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FLUSH, pktLine } from '../../src/git/pkt-line.ts'
import { insertRepository } from '../../src/store/repositories.ts'
import { addHook } from '../git/repositories.ts'
import { rows } from '../start-app.ts'
import { type GitClient, gitClient } from './git-client.ts'
import { processesIn } from './git-processes.ts'
import { addPerson } from './people.ts'
import { type ForgeApp, startForgeApp } from './proposals.ts'

const CAP = 4 * 1024 ** 2
const ZERO = '0'.repeat(40)

let app: ForgeApp
let client: GitClient
let work: string
let count = 0
beforeAll(async () => {
  app = await startForgeApp({ AGENTRUN_PUSH_MAX_BYTES: String(CAP) })
  client = gitClient(app)
})
afterAll(async () => {
  client[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})
beforeEach(async () => {
  work = `work-${++count}`
  await client.ok('.', 'clone', '--quiet', client.address(), work)
})

const mirror = () => join(app.data_dir, 'mirrors', `${app.repo_id}.git`)
const git = (...args: string[]) => client.ok(work, ...args)
const push = (...args: string[]) => client.at(work, 'push', ...args)
const at = (ref: string) => app.git('for-each-ref', '--format=%(objectname)', ref)

async function commit(files: Record<string, string | Uint8Array>): Promise<string> {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(client.folder, work, name), content)
  await git('add', '--all')
  await git('commit', '--quiet', '--allow-empty', '-m', `change ${count}`)
  return git('rev-parse', 'HEAD')
}

describe('git push', () => {
  test('moves a branch of the repository itself, and what is fetched next has it', async () => {
    const sha = await commit({ 'pushed.txt': 'x\n' })
    const { code, err } = await push('origin', 'main')
    expect([code, err]).toEqual([0, expect.stringContaining('main -> main')])
    expect(at('refs/heads/main')).toBe(sha)
    expect(await client.ok('.', 'ls-remote', client.address(), 'main')).toContain(sha)
    const audited = await rows(
      app,
      `select action, user_id, detail from audit_entries where action = 'repository.pushed' order by id desc limit 1`,
    )
    expect(audited).toMatchObject([{ user_id: app.user_id, detail: expect.stringContaining(sha) }])
  })

  test('makes and removes branches and tags, several at once', async () => {
    await commit({})
    await git('tag', '-a', '-m', 'v', `v${count}`)
    expect((await push('origin', 'HEAD:refs/heads/one', 'HEAD:refs/heads/two', `v${count}`)).code).toBe(0)
    expect(at('refs/heads/two')).toBe(await git('rev-parse', 'HEAD'))
    expect(at(`refs/tags/v${count}`)).toBe(await git('rev-parse', `v${count}`))
    expect((await push('origin', ':refs/heads/one', ':refs/heads/two')).code).toBe(0)
    expect(at('refs/heads/')).not.toContain('one')
    expect(await client.ok('.', 'ls-remote', client.address())).not.toContain('refs/heads/two')
  })

  test('goes from a shallow clone, and from one that is partial', async () => {
    for (const option of ['--depth=1', '--filter=blob:none']) {
      work = `small${option}`
      await client.ok('.', 'clone', '--quiet', option, client.address(), work)
      const sha = await commit({ 'small.txt': option })
      expect((await push('origin', 'main')).code).toBe(0)
      expect(at('refs/heads/main')).toBe(sha)
    }
  })

  test('goes in pieces when it is large', async () => {
    const sha = await commit({ 'pieces.bin': randomBytes(CAP / 2) })
    expect(await push('origin', 'HEAD:refs/heads/pieces')).toMatchObject({ code: 0 })
    expect(at('refs/heads/pieces')).toBe(sha)
  })

  test('is refused where the branch has gone on, unless it is forced', async () => {
    const sha = await commit({ 'mine.txt': 'x\n' })
    const theirs = app.put('main', { 'theirs.txt': 'y\n' })
    expect((await push('origin', 'main')).err).toMatch(/\[rejected\] .*fetch first/)
    expect(at('refs/heads/main')).toBe(theirs)
    expect((await push('--force-with-lease=main', 'origin', 'main')).err).toContain('stale info')
    expect(at('refs/heads/main')).toBe(theirs)
    const forced = await push('--force', 'origin', 'main')
    expect([forced.code, forced.err]).toEqual([0, expect.stringContaining('forced update')])
    expect(at('refs/heads/main')).toBe(sha)
  })

  test('obeys what the repository itself does not allow, and shows its hooks', async () => {
    app.git('config', 'receive.denyDeletes', 'true')
    await git('push', 'origin', 'main:refs/heads/kept')
    expect((await push('origin', ':refs/heads/kept')).err).toMatch(/remote rejected.*deletion prohibited/)
    app.git('config', '--unset', 'receive.denyDeletes')
    await addHook(app.remote, 'pre-receive', 'echo "not on a Friday"; exit 1')
    const { code, err } = await push('origin', 'main:refs/heads/friday')
    expect([code, err]).toEqual([1, expect.stringContaining('not on a Friday')])
    expect(err).toContain('pre-receive hook declined')
    await addHook(app.remote, 'pre-receive', 'exit 0')
    expect(at('refs/heads/friday')).toBe('')
  })

  test('all or nothing when it is atomic', async () => {
    const theirs = app.put('busy', { 'busy.txt': 'y\n' })
    await git('fetch', '--quiet', 'origin')
    const sha = await commit({})
    app.git('config', 'receive.denyNonFastForwards', 'true')
    const both = await push('--atomic', '--force', 'origin', `${sha}:refs/heads/free`, `${sha}:refs/heads/busy`)
    app.git('config', '--unset', 'receive.denyNonFastForwards')
    expect([both.code, at('refs/heads/free'), at('refs/heads/busy')]).toEqual([1, '', theirs])
  })

  test('two at once: one moves the branch, and the other is told', async () => {
    const base = at('refs/heads/main')
    const others = ['first', 'second']
    for (const name of others) {
      work = name
      await client.ok('.', 'clone', '--quiet', client.address(), name)
      await commit({ [`${name}.txt`]: name })
    }
    const ends = await Promise.all(others.map(name => client.at(name, 'push', '--force', 'origin', 'main')))
    const heads = await Promise.all(others.map(name => client.ok(name, 'rev-parse', 'HEAD')))
    const won = heads.indexOf(at('refs/heads/main'))
    expect(won).toBeGreaterThanOrEqual(0)
    // The loser was in the middle of it, or came so late that it pushed over the winner knowingly.
    const late = ends.filter(({ code }) => code === 0).length === 2
    if (!late) expect(ends[1 - won]?.err).toMatch(/stale info|failed to update ref|cannot lock ref|incorrect old value/)
    expect(app.git('rev-parse', `${heads[won]}~1`)).toBe(base)
  })
})

describe('a branch of a pull request', () => {
  test('takes it along: head and counts, an event, and a word to who pushed', async () => {
    const { id, branch, run_id, head_sha } = await app.propose({ 'c.txt': 'c\n' })
    await git('fetch', '--quiet', 'origin')
    await git('checkout', '--quiet', branch)
    const sha = await commit({ 'more.txt': '1\n2\n3\n' })
    const { err } = await push('origin', branch)
    const pr = await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)
    expect(pr.body).toMatchObject({ head_sha: sha, state: 'open', files_changed: 2, additions: 4, mergeable: 'clean' })
    expect(err).toContain(`Pull request ${pr.body.number} is of this commit now`)
    const events = await rows(app, `select body from events where run_id = $1 and type = 'agent_run.pull_request'`, [run_id])
    expect(events).toHaveLength(1)
    await git('reset', '--quiet', '--hard', head_sha)
    await git('push', '--quiet', '--force', 'origin', branch)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)).body).toMatchObject({ head_sha, files_changed: 1 })
  })

  test('that is closed stays where it was', async () => {
    const { id, branch, head_sha } = await app.propose({ 'd.txt': 'c\n' })
    await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${id}`, { state: 'closed' })
    await git('fetch', '--quiet', 'origin')
    await git('checkout', '--quiet', branch)
    await commit({})
    await git('push', '--quiet', 'origin', branch)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)).body.head_sha).toBe(head_sha)
  })
})

describe('who may not', () => {
  test('a reader, a token that only reads, one of other repositories', async () => {
    const reader = await addPerson(app, 'READER')
    const reading = await addPerson(app, 'ADMIN', { scopes: ['repos:read', 'repos:admin'] })
    const other = await insertRepository(app.db, {
      ...{
        organization_id: app.org_id,
        name: 'o',
        full_name: 'o/o',
        url: '/nowhere/o.git',
        kind: 'local',
        description: null,
        sample: false,
      },
    })
    const bound = await addPerson(app, 'ADMIN', { organization_id: app.org_id, repository_ids: [other.id] })
    for (const [{ token }, words] of [
      [reader, 'scope runs:write, which your role READER'],
      [reading, 'scope runs:write, which your token'],
      [bound, 'Repository not found.'],
    ] as const) {
      const { code, err } = await push(client.address(app.repo_id, token), 'main:refs/heads/theirs')
      expect([code, err]).toEqual([128, expect.stringContaining(words)])
    }
    const member = await addPerson(app, 'MEMBER')
    expect((await push(client.address(app.repo_id, member.token), 'main:refs/heads/theirs')).code).toBe(0)
  })

  test('anybody to a repository of another server, or an archived one', async () => {
    const { id } = await insertRepository(app.db, {
      ...{ organization_id: app.org_id, name: 'far', full_name: 'far/far', url: 'https://git.example/far.git', kind: 'https' },
      ...{ description: null, sample: false },
    })
    const { code, err } = await push(client.address(id), 'main')
    expect([code, err]).toEqual([128, expect.stringContaining('Push to the repository itself: https://git.example/far.git')])
    await rows(app, 'update repositories set archived = true where id = $1', [app.repo_id])
    expect((await push('origin', 'main:refs/heads/old')).err).toContain('archived')
    await rows(app, 'update repositories set archived = false where id = $1', [app.repo_id])
  })
})

describe('what is not taken', () => {
  const nothingLeft = () => readdirSync(mirror()).filter(name => name.startsWith('incoming-'))

  test('refs that are no branch and no tag', async () => {
    for (const ref of ['refs/agentrun/1/1', 'refs/pull/1/head', 'refs/notes/commits']) {
      const { code, err } = await push('origin', `HEAD:${ref}`)
      expect([code, err]).toEqual([1, expect.stringMatching(/remote rejected.*only branches and tags/)])
    }
    expect(app.git('for-each-ref', 'refs/agentrun', 'refs/pull', 'refs/notes')).toBe('')
  })

  test('more bytes than the operator allows: git says so, and nothing stays', async () => {
    await commit({ 'large.bin': randomBytes(CAP + CAP / 2) })
    const { code, err } = await push('origin', 'HEAD:refs/heads/large')
    expect([code, err]).toEqual([1, expect.stringContaining('larger than allowed')])
    expect([at('refs/heads/large'), nothingLeft()]).toEqual(['', []])
  })

  test('objects that a checkout would be misled by', async () => {
    const blob = await git('hash-object', '-w', 'a.txt')
    const tree = execFileSync('git', ['mktree'], {
      cwd: join(client.folder, work),
      input: `100644 blob ${blob}\t.git\n`,
      encoding: 'utf8',
    }).trim()
    const bad = await git('commit-tree', '-m', 'x', tree)
    const { code, err } = await push('origin', `${bad}:refs/heads/bad`)
    expect([code, err]).toEqual([1, expect.stringMatching(/hasDotgit|contains '\.git'/)])
    expect([at('refs/heads/bad'), nothingLeft()]).toEqual(['', []])
    expect(() => execFileSync('git', ['-c', 'safe.directory=*', 'cat-file', '-e', bad], { cwd: mirror(), stdio: 'ignore' })).toThrow()
  })

  /** What no git writes. */
  async function raw(body: Uint8Array<ArrayBuffer>) {
    const response = await fetch(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/x-git-receive-pack-request' },
      body,
    })
    return { status: response.status, text: await response.text() }
  }
  const command = (from: string, to: string, ref: string) => Buffer.concat([pktLine(`${from} ${to} ${ref}\0 report-status`), FLUSH])

  test('a commit that is nowhere, a pack that is none, a stale place, and what is no push at all', async () => {
    const main = app.put('main', { 'raw.txt': 'x\n' })
    await client.ok('.', 'ls-remote', client.address())
    const nowhere = await raw(Buffer.concat([command(ZERO, 'a'.repeat(40), 'refs/heads/x'), emptyPack()]))
    expect(nowhere.text).toContain('ng refs/heads/x unpacker error')
    expect((await raw(Buffer.concat([command(ZERO, main, 'refs/heads/x'), Buffer.from('PACKjunk')]))).text).toContain('ng refs/heads/x')
    expect((await raw(command(ZERO, main, 'refs/heads/x'))).text).toContain('ng refs/heads/x')
    expect(
      (await raw(Buffer.concat([command('b'.repeat(40), app.git('rev-parse', 'main~1'), 'refs/heads/main'), emptyPack()]))).text,
    ).toContain('ng refs/heads/main')
    expect((await raw(command(main, ZERO, 'refs/heads/never'))).text).toContain('ng refs/heads/never')
    expect((await raw(Buffer.from('hello'))).status).toBe(409)
    expect((await raw(pktLine('push-cert\0 x') as Buffer<ArrayBuffer>)).status).toBe(409)
    expect((await raw(Buffer.from('0000'))).status).toBe(200)
    expect([at('refs/heads/main'), at('refs/heads/x'), nothingLeft()]).toEqual([main, '', []])
  })

  const emptyPack = () => execFileSync('git', ['pack-objects', '--stdout'], { cwd: join(client.folder, work), input: '' })

  test('names by which git could be told something', async () => {
    const main = at('refs/heads/main')
    for (const ref of [
      'refs/heads/--force',
      'refs/heads/-x',
      'refs/heads/a:b',
      'refs/heads/../../x',
      'refs/heads/a b',
      'refs/heads/a\nb',
      'refs/heads/x.lock',
    ]) {
      const { text } = await raw(Buffer.concat([command(ZERO, main, ref), emptyPack()]))
      expect(text).toMatch(/ng refs\/heads\/.*this is no name|ng .*only branches/s)
    }
    expect(app.git('for-each-ref', 'refs/heads/-*')).toBe('')
  })

  test('a client that hangs up in the middle leaves no process, no file and no branch', async () => {
    const asked = request(`${app.base_url}/git/${app.org_id}/${app.repo_id}.git/git-receive-pack`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/x-git-receive-pack-request' },
    })
    asked.on('error', () => {})
    const header = Buffer.alloc(12)
    header.write('PACK')
    header.writeUInt32BE(2, 4)
    header.writeUInt32BE(3, 8)
    asked.write(Buffer.concat([command(ZERO, at('refs/heads/main'), 'refs/heads/half'), header]))
    await expect.poll(() => processesIn(app.data_dir).filter(line => line.includes('index-pack')), { timeout: 20_000 }).toHaveLength(1)
    asked.destroy()
    await expect.poll(() => [processesIn(app.data_dir), nothingLeft()], { timeout: 20_000 }).toEqual([[], []])
    expect(at('refs/heads/half')).toBe('')
  })

  test('no hook of the mirror runs', async () => {
    mkdirSync(join(mirror(), 'hooks'), { recursive: true })
    for (const name of ['pre-receive', 'update', 'post-receive', 'reference-transaction', 'pre-push'])
      await addHook(mirror(), name, `touch ${join(client.folder, 'ran')}`)
    await commit({ 'hooked.txt': 'x\n' })
    expect((await push('--force', 'origin', 'HEAD:refs/heads/hooked')).code).toBe(0)
    expect(readdirSync(client.folder)).not.toContain('ran')
  })
})

test('a repository without a commit gets its first', async () => {
  const empty = `${app.remote}.empty`
  app.git('init', '--quiet', '--bare', '--initial-branch=main', empty)
  const { id } = await insertRepository(app.db, {
    ...{ organization_id: app.org_id, name: 'e', full_name: 'e/e', url: empty, kind: 'local', description: null, sample: false },
  })
  await client.ok('.', 'clone', '--quiet', client.address(id), 'empty')
  work = 'empty'
  const sha = await commit({ 'a.txt': 'a\n' })
  expect((await push('origin', 'HEAD:refs/heads/main')).code).toBe(0)
  expect(await client.ok('.', 'ls-remote', client.address(id))).toContain(`${sha}\trefs/heads/main`)
})
