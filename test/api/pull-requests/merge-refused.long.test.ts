import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startGitServer } from '../../git/remotes/git-server.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { startMerges } from './start-merges.ts'

const { app, merge, get, edit, main, own, addHook, removeHook } = await startMerges()

describe('409', () => {
  /** Refused with this message; base and pull request are unchanged. */
  async function refused(id: number, words: RegExp, body?: unknown) {
    const [before, state] = [main(), await get(id)]
    const problem = expectProblem(await merge(id, body), 409)
    expect(problem).toMatchObject({ code: 'conflict', detail: expect.stringMatching(words) })
    expect(main()).toBe(before)
    expect(await get(id)).toMatchObject({ state: state.state, merge_sha: null })
    return problem
  }

  test('a conflict, naming every file', async () => {
    const odd = 'two\nlines.txt'
    const pr = await app.propose({ 'a.txt': 'theirs\n', [odd]: 'theirs\n', [own()]: 'fine\n' })
    app.put('main', { 'a.txt': 'ours\n', [odd]: 'ours\n' })
    const problem = await refused(pr.id, /^It conflicts with main in "a\.txt", "two\\nlines\.txt"\.$/)
    expect(problem.errors).toEqual(
      ['a.txt', odd].map(file => ({
        loc: ['files', file],
        msg: 'both branches changed it',
        type: 'merge_conflict',
      })),
    )
    const expected_head_sha = app.put(pr.branch, { 'a.txt': 'ours\n', [odd]: 'ours\n' })
    expect((await merge(pr.id, { expected_head_sha })).status).toBe(200)
  })

  test('a closed one, and a draft', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    await edit(pr.id, 'closed')
    await refused(pr.id, /is closed; open it first/)
    await edit(pr.id, 'draft')
    await refused(pr.id, /is a draft/)
    await edit(pr.id, 'ready_for_review')
    expect((await merge(pr.id)).status).toBe(200)
  })

  test('a missing head or base', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('branch', '-D', pr.branch)
    expect(expectProblem(await merge(pr.id), 409).detail).toMatch(
      new RegExp(`no longer has the branch ${pr.branch}`),
    )
    await refused(pr.id, /is closed; open it first/)
    const lost = await app.propose({ [own()]: 'x\n' }, { base_branch: 'never' })
    await refused(lost.id, /has no branch never to merge into/)
    const sha = await app.propose({ [own()]: 'x\n' }, { base_branch: main() })
    await refused(sha.id, /has no branch [0-9a-f]{40} to merge into/)
  })

  test('a head that moved since the caller read it: refused, and shown the next time', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const head_sha = app.put(pr.branch, { [own()]: 'unseen\n' })
    await refused(pr.id, new RegExp(`is at ${head_sha} now, not at ${pr.head_sha}: review`), {
      expected_head_sha: pr.head_sha,
    })
    expect(await get(pr.id)).toMatchObject({ head_sha, files_changed: 2 })
    expect((await merge(pr.id, { expected_head_sha: head_sha })).status).toBe(200)
  })

  test('a branch that was reset to the base is empty and not merged', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    app.git('update-ref', `refs/heads/${pr.branch}`, 'main')
    await refused(pr.id, /nothing to merge/)
    expect((await get(pr.id)).state).toBe('open')
  })

  test('a remote that refuses, with its message, and a later attempt is possible', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    addHook('echo "main is frozen" >&2; exit 1')
    await refused(pr.id, /pre-receive hook declined\)\nmain is frozen/)
    removeHook()
    expect((await merge(pr.id)).status).toBe(200)
  })

  test('a base that moves at each attempt', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    const tree = app.git('rev-parse', 'main^{tree}')
    addHook(`unset GIT_QUARANTINE_PATH; export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
git update-ref refs/heads/main $(git commit-tree ${tree} -p main -m moved)`)
    expect(expectProblem(await merge(pr.id), 409).detail).toBe('main moved concurrently, 4 times; try again.')
    removeHook()
    expect((await merge(pr.id)).status).toBe(200)
  })

  test('a base that is checked out in the repository’s own work tree: refused with a workaround that works', async () => {
    const work = join(dirname(app.remote), 'work')
    const repository_id = await putRepository(app, 'work', 'local', work)
    const file = own()
    const pr = await app.propose({ [file]: 'x\n' }, { repository_id })
    app.put('main', {})
    app.git('--git-dir', join(work, '.git'), '--work-tree', work, 'checkout', '--quiet', 'main')
    await refused(pr.id, /checked out in the repository's own work tree.*updateInstead/)
    app.git('config', '--file', join(work, '.git/config'), 'receive.denyCurrentBranch', 'updateInstead')
    expect((await merge(pr.id)).status).toBe(200)
    expect(app.git('--git-dir', join(work, '.git'), '--work-tree', work, 'status', '--porcelain')).toBe('')
    expect(app.git('--git-dir', join(work, '.git'), 'show', `main:${file}`)).toBe('x')
  })

  test('a repository that is gone, with the message of git', async () => {
    const pr = await app.propose({ [own()]: 'x\n' })
    renameSync(app.remote, `${app.remote}.away`)
    const problem = expectProblem(await merge(pr.id), 409)
    renameSync(`${app.remote}.away`, app.remote)
    expect(problem.detail).toContain('does not exist')
  })
})

describe('503', () => {
  test('a remote that does not respond: retryable', async () => {
    const repository_id = await putRepository(app, 'down', 'http', 'http://127.0.0.1:1/down.git')
    const pr = await app.propose({ [own()]: 'x\n' }, { repository_id })
    const result = await merge(pr.id)
    expect(expectProblem(result, 503).detail).toMatch(/cannot be reached/)
    expect(Number(result.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await get(pr.id)).state).toBe('open')
  })

  test('a response to the push that never arrives: the merge is detected by a second request', async () => {
    let cut = true
    await using server = await startGitServer(dirname(app.remote), (request, response) => {
      if (!cut || request.method !== 'POST' || !request.url?.endsWith('git-receive-pack')) return false
      cut = false
      // The remote accepts the commit, and its response is cut off.
      response.end = () => {
        response.setHeader('content-length', 1_000)
        response.write('00', () => response.socket?.destroy())
        return response
      }
      return false
    })
    const repository_id = await putRepository(app, 'cut', 'http', `${server.url}/remote.git`)
    const pr = await app.propose({ [own()]: 'x\n' }, { repository_id })
    expectProblem(await merge(pr.id), 503)
    expect(await merge(pr.id)).toMatchObject({ status: 200, body: { state: 'merged', merge_sha: main() } })
  })
})
