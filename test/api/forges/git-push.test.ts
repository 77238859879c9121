import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { addHook } from '../../git/repositories.ts'
import { rows } from '../../start-app.ts'
import { addPerson } from '../members/people.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { PUSH_MAX_BYTES, startPushes } from './start-git.ts'

const { app, client, clone, at } = await startPushes()

describe('git push', () => {
  test('moves a branch of the repository itself, and the next fetch has it', async () => {
    const sha = await clone.commit({ 'pushed.txt': 'x\n' })
    const { code, err } = await clone.push('origin', 'main')
    expect([code, err]).toEqual([0, expect.stringContaining('main -> main')])
    expect(at('refs/heads/main')).toBe(sha)
    expect(await client.ok('.', 'ls-remote', client.address(), 'main')).toContain(sha)
    const audited = await rows(
      app,
      `select action, user_id, detail
        from audit_entries
        where action = 'repository.pushed'
        order by id desc
        limit 1`,
    )
    expect(audited).toMatchObject([{ user_id: app.user_id, detail: expect.stringContaining(sha) }])
  })

  test('creates and deletes branches and tags, several at once', async () => {
    await clone.commit({})
    await clone.git('tag', '-a', '-m', 'v', 'v1')
    expect((await clone.push('origin', 'HEAD:refs/heads/one', 'HEAD:refs/heads/two', 'v1')).code).toBe(0)
    expect(at('refs/heads/two')).toBe(await clone.git('rev-parse', 'HEAD'))
    expect(at('refs/tags/v1')).toBe(await clone.git('rev-parse', 'v1'))
    expect((await clone.push('origin', ':refs/heads/one', ':refs/heads/two')).code).toBe(0)
    expect(at('refs/heads/')).not.toContain('one')
    expect(await client.ok('.', 'ls-remote', client.address())).not.toContain('refs/heads/two')
  })

  test('works from a shallow and from a partial clone', async () => {
    for (const option of ['--depth=1', '--filter=blob:none']) {
      clone.name = `small${option}`
      await client.ok('.', 'clone', '--quiet', option, client.address(), clone.name)
      const sha = await clone.commit({ 'small.txt': option })
      expect((await clone.push('origin', 'main')).code).toBe(0)
      expect(at('refs/heads/main')).toBe(sha)
    }
  })

  test('is sent in chunks when it is large', async () => {
    const sha = await clone.commit({ 'pieces.bin': randomBytes(PUSH_MAX_BYTES / 2) })
    expect(await clone.push('origin', 'HEAD:refs/heads/pieces')).toMatchObject({ code: 0 })
    expect(at('refs/heads/pieces')).toBe(sha)
  })

  test('is refused if the branch has moved on, unless it is forced', async () => {
    const sha = await clone.commit({ 'mine.txt': 'x\n' })
    const theirs = app.put('main', { 'theirs.txt': 'y\n' })
    expect((await clone.push('origin', 'main')).err).toMatch(/\[rejected\] .*fetch first/)
    expect(at('refs/heads/main')).toBe(theirs)
    expect((await clone.push('--force-with-lease=main', 'origin', 'main')).err).toContain('stale info')
    expect(at('refs/heads/main')).toBe(theirs)
    const forced = await clone.push('--force', 'origin', 'main')
    expect([forced.code, forced.err]).toEqual([0, expect.stringContaining('forced update')])
    expect(at('refs/heads/main')).toBe(sha)
  })

  test('obeys the restrictions of the repository itself, and shows the output of its hooks', async () => {
    app.git('config', 'receive.denyDeletes', 'true')
    await clone.git('push', 'origin', 'main:refs/heads/kept')
    expect((await clone.push('origin', ':refs/heads/kept')).err).toMatch(
      /remote rejected.*deletion prohibited/,
    )
    app.git('config', '--unset', 'receive.denyDeletes')
    await addHook(app.remote, 'pre-receive', 'echo "not on a Friday"; exit 1')
    const { code, err } = await clone.push('origin', 'main:refs/heads/friday')
    expect([code, err]).toEqual([1, expect.stringContaining('not on a Friday')])
    expect(err).toContain('pre-receive hook declined')
    await addHook(app.remote, 'pre-receive', 'exit 0')
    expect(at('refs/heads/friday')).toBe('')
  })

  test('is all or nothing when it is atomic', async () => {
    const theirs = app.put('busy', { 'busy.txt': 'y\n' })
    await clone.git('fetch', '--quiet', 'origin')
    const sha = await clone.commit({})
    app.git('config', 'receive.denyNonFastForwards', 'true')
    const both = await clone.push(
      '--atomic',
      '--force',
      'origin',
      `${sha}:refs/heads/free`,
      `${sha}:refs/heads/busy`,
    )
    app.git('config', '--unset', 'receive.denyNonFastForwards')
    expect([both.code, at('refs/heads/free'), at('refs/heads/busy')]).toEqual([1, '', theirs])
  })

  test('two in parallel: one moves the branch, and the other gets a conflict', async () => {
    const base = at('refs/heads/main')
    const others = ['first', 'second']
    for (const name of others) {
      clone.name = name
      await client.ok('.', 'clone', '--quiet', client.address(), name)
      await clone.commit({ [`${name}.txt`]: name })
    }
    const ends = await Promise.all(others.map(name => client.at(name, 'push', '--force', 'origin', 'main')))
    const heads = await Promise.all(others.map(name => client.ok(name, 'rev-parse', 'HEAD')))
    const won = heads.indexOf(at('refs/heads/main'))
    expect(won).toBeGreaterThanOrEqual(0)
    // The loser conflicted, or came so late that it pushed on top of the winner.
    const late = ends.filter(({ code }) => code === 0).length === 2
    if (!late)
      expect(ends[1 - won]?.err).toMatch(
        /stale info|failed to update ref|cannot lock ref|incorrect old value/,
      )
    expect(app.git('rev-parse', `${heads[won]}~1`)).toBe(base)
  })
})

describe('a branch of a pull request', () => {
  test('updates the pull request: head and counts, an event, and a message to the client', async () => {
    const { id, branch, run_id, head_sha } = await app.propose({ 'c.txt': 'c\n' })
    await clone.git('fetch', '--quiet', 'origin')
    await clone.git('checkout', '--quiet', branch)
    const sha = await clone.commit({ 'more.txt': '1\n2\n3\n' })
    const { err } = await clone.push('origin', branch)
    const pr = await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)
    expect(pr.body).toMatchObject({
      head_sha: sha,
      state: 'open',
      files_changed: 2,
      additions: 4,
      mergeable: 'clean',
    })
    expect(err).toContain(`Pull request ${pr.body.number} is of this commit now`)
    const events = await rows(
      app,
      `select body from events where run_id = $1 and type = 'agent_run.pull_request'`,
      [run_id],
    )
    expect(events).toHaveLength(1)
    await clone.git('reset', '--quiet', '--hard', head_sha)
    await clone.git('push', '--quiet', '--force', 'origin', branch)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)).body).toMatchObject({
      head_sha,
      files_changed: 1,
    })
  })

  test('that is closed is not updated', async () => {
    const { id, branch, head_sha } = await app.propose({ 'd.txt': 'c\n' })
    await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${id}`, { state: 'closed' })
    await clone.git('fetch', '--quiet', 'origin')
    await clone.git('checkout', '--quiet', branch)
    await clone.commit({})
    await clone.git('push', '--quiet', 'origin', branch)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/prs/${id}`)).body.head_sha).toBe(head_sha)
  })
})

describe('refused callers', () => {
  test('a reader, a read-only token, a token of other repositories', async () => {
    const reader = await addPerson(app, 'READER')
    const reading = await addPerson(app, 'ADMIN', { scopes: ['repos:read', 'repos:admin'] })
    const other = await putRepository(app, 'other')
    const bound = await addPerson(app, 'ADMIN', { organization_id: app.org_id, repository_ids: [other] })
    for (const [{ token }, words] of [
      [reader, 'scope runs:write, which your role READER'],
      [reading, 'scope runs:write, which your token'],
      [bound, 'Repository not found.'],
    ] as const) {
      const { code, err } = await clone.push(client.address(app.repo_id, token), 'main:refs/heads/theirs')
      expect([code, err]).toEqual([128, expect.stringContaining(words)])
    }
    const member = await addPerson(app, 'MEMBER')
    expect((await clone.push(client.address(app.repo_id, member.token), 'main:refs/heads/theirs')).code).toBe(
      0,
    )
  })

  test('every caller for a repository of another server, or an archived one', async () => {
    const id = await putRepository(app, 'far', 'https', 'https://git.example/far.git')
    const { code, err } = await clone.push(client.address(id), 'main')
    expect([code, err]).toEqual([
      128,
      expect.stringContaining('Push to the repository itself: https://git.example/far.git'),
    ])
    await rows(app, 'update repositories set archived = true where id = $1', [app.repo_id])
    expect((await clone.push('origin', 'main:refs/heads/old')).err).toContain('archived')
    await rows(app, 'update repositories set archived = false where id = $1', [app.repo_id])
  })
})

test('a repository without a commit gets its first one', async () => {
  const empty = `${app.remote}.empty`
  app.git('init', '--quiet', '--bare', '--initial-branch=main', empty)
  const id = await putRepository(app, 'empty', 'local', empty)
  await client.ok('.', 'clone', '--quiet', client.address(id), 'empty')
  clone.name = 'empty'
  const sha = await clone.commit({ 'a.txt': 'a\n' })
  expect((await clone.push('origin', 'HEAD:refs/heads/main')).code).toBe(0)
  expect(await client.ok('.', 'ls-remote', client.address(id))).toContain(`${sha}\trefs/heads/main`)
})
