import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startGitServer } from '../../git/remotes/git-server.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { startMerges } from './start-merges.ts'

const { app, merge, get, edit, main, audits, own } = await startMerges()
const call = (path: string) => app.call('GET', `/v1/organizations/${app.org_id}/prs${path}`)
const listed = async (id: number) =>
  (await call('')).body.items.find((item: { id: number }) => item.id === id)

/** A change of `main` by a person in the repository itself, by a commit with the files of another branch. */
function squashByHand(branch: string): string {
  const merged = app.git('merge-tree', '--write-tree', 'main', branch)
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  const sha = app.git(...author, 'commit-tree', merged, '-p', 'main', '-m', 'manual')
  app.git('update-ref', 'refs/heads/main', sha)
  return sha
}

describe('changes in the repository are shown by the next read', () => {
  test('a push: head, counts, diff and commits', async () => {
    const file = own()
    const pr = await app.propose({ [own()]: 'x\n' })
    const head_sha = app.put(pr.branch, { [file]: '1\n2\n' })
    expect((await call(`/${pr.id}/diff`)).body).toMatchObject({ head_sha, files_changed: 2 })
    expect(await get(pr.id)).toMatchObject({ state: 'open', head_sha, files_changed: 2, additions: 3 })
    expect((await call(`/${pr.id}/commits`)).body.total).toBe(2)
  })

  test('a force-push', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const head_sha = app.put('other', { [own()]: 'other\n' })
    app.git('update-ref', `refs/heads/${pr.branch}`, head_sha)
    app.git('branch', '-D', 'other')
    expect(await listed(pr.id)).toMatchObject({ head_sha, state: 'open' })
    expect((await call(`/${pr.id}/diff`)).body.head_sha).toBe(head_sha)
  })

  test('a merge and a fast-forward, with and without the branch', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('update-ref', 'refs/heads/main', pr.head_sha)
    expect(await get(pr.id)).toMatchObject({ state: 'merged', merge_sha: pr.head_sha })
    expect((await audits(pr.id)).map(row => [row.action, JSON.parse(row.detail).how])).toEqual([
      ['pull_request.merged', 'found'],
    ])
    const other = await app.propose({ [own()]: 'x\n' })
    app.put('main', { [own()]: 'x\n' })
    const merged = squashByHand(other.branch)
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    const commit = app.git(
      ...author,
      'commit-tree',
      `${merged}^{tree}`,
      '-p',
      `${merged}^`,
      '-p',
      other.branch,
      '-m',
      'merge',
    )
    app.git('update-ref', 'refs/heads/main', commit)
    app.git('branch', '-D', other.branch)
    expect(await listed(other.id)).toMatchObject({ state: 'merged', merge_sha: commit })
  })

  test('a squash, also after other pushes and when the branch is deleted', async () => {
    const pr = await app.propose({ 'a.txt': 'squashed\n', [own()]: 'x\n' })
    app.put(pr.branch, { [own()]: 'two\n' })
    await get(pr.id)
    app.put('main', { [own()]: 'before\n' })
    const squashed = squashByHand(pr.branch)
    app.put('main', { [own()]: 'after\n' })
    app.git('branch', '-D', pr.branch)
    expect(await get(pr.id)).toMatchObject({ state: 'merged', merge_sha: squashed })
    expect(await get(pr.id)).toMatchObject({ state: 'merged' })
  })

  test('a base that moves, or has a part of the change, does not count as a merge', async () => {
    const [one, two] = [own(), own()]
    const pr = await app.propose({ [one]: '1\n', [two]: '2\n' })
    app.put('main', { [one]: '1\n' })
    expect(await get(pr.id)).toMatchObject({ state: 'open', head_sha: pr.head_sha, merge_sha: null })
    app.put('main', { [one]: 'another\n' })
    expect(await get(pr.id)).toMatchObject({ state: 'open', mergeable: 'conflict' })
  })

  test('a branch that is reset to its base is empty and never merged', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.put('main', { [own()]: 'x\n' })
    app.git('update-ref', `refs/heads/${pr.branch}`, 'main')
    for (const _ of [1, 2])
      expect(await get(pr.id)).toMatchObject({ state: 'open', files_changed: 0, head_sha: main() })
  })

  test('a deleted branch closes the pull request, and it can be reopened after another push', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('branch', '-D', pr.branch)
    expect(await get(pr.id)).toMatchObject({ state: 'closed', head_sha: pr.head_sha })
    expect((await audits(pr.id)).map(row => JSON.parse(row.detail))).toEqual([
      { from: 'open', to: 'closed', how: 'branch_deleted' },
    ])
    expect((await edit(pr.id, 'open')).body).toMatchObject({
      success: false,
      error: expect.stringContaining('push it again'),
    })
    const head_sha = app.put(pr.branch, { [own()]: 'again\n' })
    expect((await edit(pr.id, 'open')).body).toMatchObject({ success: true, state: 'open' })
    expect(await get(pr.id)).toMatchObject({ state: 'open', head_sha })
  })

  test('the run is notified of it once, without a user', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('update-ref', 'refs/heads/main', pr.head_sha)
    await Promise.all([get(pr.id), get(pr.id), listed(pr.id)])
    const events = await rows<{ body: string }>(
      app,
      `select body from events where run_id = $1 and type = 'agent_run.pull_request'`,
      [pr.run_id],
    )
    expect(events.map(({ body }) => JSON.parse(body))).toEqual([
      { pr_number: expect.any(Number), state: 'merged' },
    ])
  })

  test('over the network, and nothing while the remote is unavailable', async () => {
    const server = await startGitServer(dirname(app.remote))
    const repository_id = await putRepository(app, 'network', 'http', `${server.url}/remote.git`)
    const pr = await app.propose({ [own()]: 'x\n' }, { repository_id })
    expect(await get(pr.id)).toMatchObject({ state: 'open', mergeable: 'clean' })
    const requests = server.requests.length
    for (let n = 0; n < 5; n++) await listed(pr.id)
    expect(server.requests.length).toBe(requests)
    await server[Symbol.asyncDispose]()
    app.git('branch', '-D', pr.branch)
    expect(await get(pr.id)).toMatchObject({ state: 'open' })
  })
})

describe('a merge takes only the shown head', () => {
  test('without expected_head_sha: refused after a force-push until the new head has been read', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    await get(pr.id)
    const before = main()
    const head_sha = app.put('unseen', { 'unseen.txt': 'x\n' })
    app.git('update-ref', `refs/heads/${pr.branch}`, head_sha)
    for (const _ of [1, 2]) {
      const { detail } = expectProblem(await merge(pr.id), 409)
      expect(detail).toContain(`is at ${head_sha} now, not at ${pr.head_sha}, where it was shown last`)
    }
    expect(main()).toBe(before)
    expect((await call(`/${pr.id}/diff`)).body.files).toMatchObject([{ path: 'unseen.txt' }])
    expect((await merge(pr.id)).body).toMatchObject({ state: 'merged', head_sha })
  })
})
