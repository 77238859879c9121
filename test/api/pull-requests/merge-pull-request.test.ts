import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PullRequest } from '../../../src/contract/pull-requests/pull-requests.ts'
import { startGitServer } from '../../git/remotes/git-server.ts'
import { followRun } from '../../runs/await-run.ts'
import { rows } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { putRun } from '../runs/put-run.ts'
import { startMerges } from './start-merges.ts'

const { app, merge, get, edit, main, audits, own, addHook } = await startMerges()

/**
 * While `work` runs, no pull request can be recorded as merged: as if the service died between push and row.
 */
async function withoutTheRow<T>(work: () => Promise<T>): Promise<T> {
  await rows(app, `alter table pull_requests add constraint dead check (state <> 'merged') not valid`)
  try {
    return await work()
  } finally {
    await rows(app, 'alter table pull_requests drop constraint dead')
  }
}

describe('200', () => {
  test('two sides of one history: a commit of both on the base branch, and all viewers are notified', async () => {
    const odd = 'new\nline/ä "quoted".txt'
    const pr = await app.propose({ 'a.txt': 'A\n', [odd]: 'x\n' })
    const base = app.put('main', { [own()]: 'theirs\n' })
    const { status, body } = await merge(pr.id)
    expect(status).toBe(200)
    expect(PullRequest.strict().parse(body)).toMatchObject({
      state: 'merged',
      merge_sha: main(),
      head_sha: pr.head_sha,
      mergeable: 'unknown',
    })
    expect(body.merged_at >= body.created_at).toBe(true)
    expect(app.git('log', '-1', '--format=%P', 'main')).toBe(`${base} ${pr.head_sha}`)
    expect(app.git('log', '-1', '--format=%an <%ae> %cn <%ce>', 'main')).toBe(
      'Robot <robot@example.org> Robot <robot@example.org>',
    )
    expect(app.git('log', '-1', '--format=%B', 'main')).toBe(
      `Merge branch '${pr.branch}' into main\n\nChange ${pr.run_id}\n\nRun: ${app.base_url}/agent/trace/${pr.run_id}`,
    )
    expect(app.git('show', 'main:a.txt')).toBe('A')
    expect(app.git('ls-tree', '-r', '-z', '--name-only', 'main').split('\0')).toContain(odd)
    app.git('fsck', '--strict')

    expect(await get(pr.id)).toEqual(body)
    const run = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${pr.run_id}`)
    expect(run.body.github_pull_requests).toMatchObject([{ id: pr.id, state: 'merged' }])
    expect((await audits(pr.id)).map(row => [row.action, JSON.parse(row.detail)])).toEqual([
      ['pull_request.merged', { merge_sha: body.merge_sha, head_sha: pr.head_sha, how: 'merge' }],
    ])
    const events = await rows<{ body: string }>(
      app,
      'select body from events where run_id = $1 order by seq desc limit 1',
      [pr.run_id],
    )
    expect(JSON.parse(events[0]?.body ?? '')).toEqual({
      pr_number: body.number,
      state: 'merged',
      user_id: app.user_id,
    })
  })

  test('a viewer of the run sees the merge', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    let requested = false
    for await (const { event, data } of followRun(app, pr.run_id)) {
      if (event !== 'run') continue
      if (data.github_pull_requests[0].state === 'merged') break
      if (!requested) void merge(pr.id)
      requested = true
    }
    expect((await get(pr.id)).state).toBe('merged')
  })

  test('a merge commit is created even if a fast-forward is possible', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const base = main()
    expect((await merge(pr.id, { method: 'merge', expected_head_sha: pr.head_sha })).status).toBe(200)
    expect(app.git('log', '-1', '--format=%P', 'main')).toBe(`${base} ${pr.head_sha}`)
    expect(app.git('diff', pr.head_sha, 'main')).toBe('')
  })

  test('squash: one commit with the whole change and the title of the pull request', async () => {
    const file = own()
    const pr = await app.propose({ [file]: '1\n' })
    const head_sha = app.put(pr.branch, { [file]: '2\n' })
    const base = app.put('main', { [own()]: 'theirs\n' })
    const { status, body } = await merge(pr.id, { method: 'squash', expected_head_sha: head_sha })
    expect([status, body.state, body.merge_sha, body.head_sha]).toEqual([200, 'merged', main(), head_sha])
    expect(app.git('log', '-1', '--format=%P', 'main')).toBe(base)
    expect(app.git('log', '-1', '--format=%B', 'main')).toBe(
      `Change ${pr.run_id}\n\nBecause.\n\nRun: ${app.base_url}/agent/trace/${pr.run_id}`,
    )
    expect(app.git('show', `main:${file}`)).toBe('2')
  })

  test('already merged: unchanged for every request, even if the remote is unavailable', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const { body } = await merge(pr.id)
    const before = await contents(app)
    renameSync(app.remote, `${app.remote}.away`)
    for (const again of [undefined, {}, { method: 'squash' }, { expected_head_sha: '1'.repeat(40) }])
      expect(await merge(pr.id, again)).toMatchObject({ status: 200, body })
    renameSync(`${app.remote}.away`, app.remote)
    expect(await contents(app)).toEqual(before)
  })

  test('merged manually, with its branch deleted since: detected and recorded, and nothing is pushed', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('update-ref', 'refs/heads/main', pr.head_sha)
    app.git('branch', '-D', pr.branch)
    expect(await merge(pr.id)).toMatchObject({
      status: 200,
      body: { state: 'merged', merge_sha: pr.head_sha },
    })
    expect(main()).toBe(pr.head_sha)
    expect((await audits(pr.id)).map(row => JSON.parse(row.detail).how)).toEqual(['found'])
  })

  test('a person pushed to the branch: its current head is merged, and the pull request reports it', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const head_sha = app.put(pr.branch, { [own()]: '1\n2\n3\n' })
    expect(await merge(pr.id, { expected_head_sha: head_sha })).toMatchObject({
      status: 200,
      body: { state: 'merged', head_sha, files_changed: 2, additions: 4, deletions: 0 },
    })
    expect(app.git('rev-parse', 'main^2')).toBe(head_sha)
  })

  test('a base that moves during the push is merged too', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const other = app.put('other', { [own()]: 'other\n' })
    const base = main()
    addHook(`unset GIT_QUARANTINE_PATH; git update-ref refs/heads/main ${other} ${base} 2>/dev/null || true`)
    expect(await merge(pr.id)).toMatchObject({ status: 200, body: { state: 'merged' } })
    expect(app.git('rev-parse', 'main^1')).toBe(other)
    expect(app.git('rev-parse', 'main^2')).toBe(pr.head_sha)
  })

  test.each(['merge', 'squash'] as const)(
    '%s: the service died between push and row: a repeated request finds the merge and does not merge twice',
    async method => {
      const pr = await app.propose({ [own()]: 'x\n' })
      await withoutTheRow(async () => void expectProblem(await merge(pr.id, { method }), 500))
      const pushed = main()
      expect(await rows(app, 'select state, merge_sha from pull_requests where id = $1', [pr.id])).toEqual([
        { state: 'open', merge_sha: null },
      ])
      app.put('main', { [own()]: 'later\n' })
      const later = main()
      expect(await merge(pr.id, { method })).toMatchObject({
        status: 200,
        body: { state: 'merged', merge_sha: pushed },
      })
      expect(main()).toBe(later)
      expect((await audits(pr.id)).map(row => JSON.parse(row.detail))).toEqual([
        { merge_sha: pushed, head_sha: pr.head_sha, how: 'found' },
      ])
    },
  )

  test('a pull request that was closed after the service died between push and row is recorded as merged', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    await withoutTheRow(async () => void expectProblem(await merge(pr.id), 500))
    await edit(pr.id, 'closed')
    expect(await merge(pr.id)).toMatchObject({ status: 200, body: { state: 'merged', merge_sha: main() } })
  })

  test('many requests in parallel: merged once', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const base = main()
    const responses = await Promise.all([
      merge(pr.id),
      merge(pr.id, { method: 'squash' }),
      merge(pr.id),
      merge(pr.id, { method: 'squash' }),
    ])
    expect(responses.map(response => response.status)).toEqual([200, 200, 200, 200])
    expect(new Set(responses.map(response => response.body.merge_sha))).toEqual(new Set([main()]))
    expect(app.git('rev-list', '--count', '--first-parent', `${base}..main`)).toBe('1')
    expect(await audits(pr.id)).toHaveLength(1)
  })

  test('two with the same base in parallel: both are merged', async () => {
    const [one, two] = [await app.propose({ [own()]: '1\n' }), await app.propose({ [own()]: '2\n' })]
    const base = main()
    expect((await Promise.all([merge(one.id), merge(two.id)])).map(response => response.status)).toEqual([
      200, 200,
    ])
    expect(app.git('rev-list', '--count', '--first-parent', `${base}..main`)).toBe('2')
    for (const { head_sha } of [one, two]) app.git('merge-base', '--is-ancestor', head_sha, 'main')
  })

  test('a pull request whose run was deleted is merged like any other', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    await putRun(app, pr.run_id, 'completed')
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${pr.run_id}`)).status).toBe(
      200,
    )
    expect(await merge(pr.id)).toMatchObject({
      status: 200,
      body: { state: 'merged', agent_run_id: null, merge_sha: main() },
    })
    expect(app.git('log', '-1', '--format=%B', 'main')).toBe(
      `Merge branch '${pr.branch}' into main\n\nChange ${pr.run_id}`,
    )
  })

  test('a repository that is reached over the network', async () => {
    await using server = await startGitServer(dirname(app.remote))
    const repository_id = await putRepository(app, 'http', 'http', `${server.url}/remote.git`)
    const pr = await app.propose({ [own()]: 'x\n' }, { repository_id })
    expect(await merge(pr.id)).toMatchObject({
      status: 200,
      body: { state: 'merged', merge_sha: main(), repo_id: repository_id },
    })
    expect(app.git('rev-parse', 'main^2')).toBe(pr.head_sha)
    expect(server.requests.some(request => request.includes('git-receive-pack'))).toBe(true)
  })
})
