import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { pushBranch } from '../../src/git/publish/push.ts'
import { readChanges } from '../../src/git/read/changes.ts'
import { listCommits } from '../../src/git/read/commits.ts'
import { resolveRef } from '../../src/git/read/revisions.ts'
import {
  addHook,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  runText,
} from './repositories.ts'
import { openWorkspace } from './workspace/workspace.ts'

test('a change made in a workspace arrives on the branch of the remote, and is read from the mirror alone', async () => {
  await using fixture = await openGitFixture()
  const bare = await makeBare(
    join(fixture.dir, 'remote.git'),
    await makeRepository(join(fixture.dir, 'source')),
  )
  const repo = localRepository(bare)
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  const workspace = await openWorkspace(fixture, repo, base.sha)
  expect(await workspace.clone()).toMatchObject({ exit_code: 0, output: '' })
  await workspace.bash('echo more >> README.md; echo new > new.txt')
  const { head_sha, committed } = await workspace.commit('Add more')
  expect(committed).toBe(true)
  if (!head_sha) throw new Error('no head')
  await workspace.deliver(head_sha)
  expect(
    await readChanges(fixture.host, repo.id, base.sha, head_sha, { max_patch_bytes: 10_000 }),
  ).toMatchObject({
    files: [
      { path: 'README.md', old_path: null, status: 'modified', additions: 1, deletions: 0, binary: false },
      { path: 'new.txt', status: 'added', additions: 1, deletions: 0 },
    ],
    files_changed: 2,
    additions: 2,
    patch: expect.stringContaining('+more\n'),
    patch_truncated: false,
  })
  expect(await listCommits(fixture.host, repo.id, base.sha, head_sha)).toEqual([
    { sha: head_sha, message: 'Add more', files: ['README.md', 'new.txt'] },
  ])
  expect(await pushBranch(fixture.host, repo, head_sha, workspace.input.branch)).toEqual({ status: 'pushed' })
  expect(await pushBranch(fixture.host, repo, head_sha, workspace.input.branch)).toEqual({
    status: 'up_to_date',
  })
  expect(await runText(bare, 'git', ['rev-parse', `refs/heads/${workspace.input.branch}`])).toBe(head_sha)
})

test('a push that a hook of the remote refuses is rejected with the message of the remote', async () => {
  await using fixture = await openGitFixture()
  const bare = await makeBare(
    join(fixture.dir, 'remote.git'),
    await makeRepository(join(fixture.dir, 'source')),
  )
  await addHook(bare, 'pre-receive', 'echo "branches need a ticket number" >&2; exit 1')
  const repo = localRepository(bare)
  await refreshMirror(fixture.host, repo)
  const sha = await runText(bare, 'git', ['rev-parse', 'main'])
  await expect(pushBranch(fixture.host, repo, sha, 'agent/run-1-task')).rejects.toMatchObject({
    code: 'rejected',
    message:
      'the remote refused the branch: [remote rejected] (pre-receive hook declined)\nbranches need a ticket number',
  })
})
