import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { GitRepository } from '../../src/git/git-repository.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { pushBranch } from '../../src/git/publish/push.ts'
import { resolveRef } from '../../src/git/read/revisions.ts'
import {
  ALICE,
  addHook,
  type GitFixture,
  give,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  root,
  runText,
  SERVICE,
} from './repositories.ts'

const BRANCH = 'agent/run-1-task'

/** Fetches and pushes the same commit back as a run's branch; returns the owner of the written files. */
async function fetchAndPush(fixture: GitFixture, repo: GitRepository): Promise<{ owner: string }> {
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  expect(await pushBranch(fixture.host, repo, base.sha, BRANCH)).toEqual({ status: 'pushed' })
  expect(await runText(repo.url, 'git', ['rev-parse', `refs/heads/${BRANCH}`])).toBe(base.sha)
  return {
    owner: await runText(repo.url, 'sh', [
      '-c',
      `stat -c %u "$(git rev-parse --git-dir)/refs/heads/${BRANCH}"`,
    ]),
  }
}

async function sourceOf(fixture: GitFixture, bare: boolean): Promise<string> {
  const source = await makeRepository(join(fixture.dir, 'source'))
  return bare ? await makeBare(join(fixture.dir, 'remote.git'), source) : source
}

for (const bare of [false, true]) {
  const what = bare ? 'a bare repository' : 'a repository with a work tree'

  test(`${what} that only its owner may enter is fetched and pushed as its owner`, async () => {
    await using fixture = await openGitFixture()
    const path = await sourceOf(fixture, bare)
    await chmod(path, 0o700)
    expect(await fetchAndPush(fixture, localRepository(path))).toEqual({ owner: String(process.getuid?.()) })
  })

  test(`${what} that everybody may read is pushed to as its owner`, async () => {
    await using fixture = await openGitFixture()
    const path = await sourceOf(fixture, bare)
    if (root) await give(path, ALICE, 0o755)
    expect(await fetchAndPush(fixture, localRepository(path))).toEqual({
      owner: String(root ? ALICE.uid : process.getuid?.()),
    })
  })

  test(`${what} of the service user stays its own`, async () => {
    await using fixture = await openGitFixture()
    const path = await sourceOf(fixture, bare)
    if (root) await give(path, SERVICE, 0o700)
    expect(await fetchAndPush(fixture, localRepository(path))).toEqual({
      owner: String(root ? SERVICE.uid : process.getuid?.()),
    })
  })
}

test('a repository with single objects that only the owner can read is fetched as the owner', async () => {
  await using fixture = await openGitFixture()
  const path = await makeRepository(join(fixture.dir, 'source'))
  const sha = await runText(path, 'git', ['rev-parse', 'HEAD'])
  await chmod(join(path, '.git', 'objects', sha.slice(0, 2), sha.slice(2)), 0o400)
  await fetchAndPush(fixture, localRepository(path))
})

test('hooks of a repository run as its owner, in the repository, without anything of ours in their environment', async () => {
  await using fixture = await openGitFixture()
  const path = await sourceOf(fixture, true)
  await addHook(path, 'post-receive', 'id -u > seen; pwd >> seen; env >> seen')
  if (root) await give(path, ALICE, 0o700)
  const repo = localRepository(path)
  await fetchAndPush(fixture, repo)
  const [uid, folder, ...env] = (await runText(path, 'cat', ['seen'])).split('\n')
  expect(uid).toBe(String(root ? ALICE.uid : process.getuid?.()))
  expect(folder).toBe(path)
  expect(env.join('\n')).not.toContain(join(fixture.dir, 'data', 'mirrors'))
})

test('git is never executed as root where another user could write a hook', async () => {
  await using fixture = await openGitFixture()
  const path = await sourceOf(fixture, true)
  const repo = localRepository(path)
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, 'main')
  if (!base || 'empty' in base) throw new Error('no base')
  await addHook(path, 'pre-receive', `id -u > ${join(fixture.dir, 'ran-as')}`)
  await writeFile(join(fixture.dir, 'ran-as'), '')
  await chmod(join(fixture.dir, 'ran-as'), 0o666)
  await chmod(join(path, 'hooks'), 0o777)
  if (root) {
    await expect(pushBranch(fixture.host, repo, base.sha, BRANCH)).rejects.toMatchObject({
      code: 'auth',
      message: expect.stringContaining('belongs to root'),
    })
    await chmod(join(path, 'hooks'), 0o755)
    await chown(join(path, 'hooks', 'pre-receive'), ALICE.uid, ALICE.gid)
    await expect(pushBranch(fixture.host, repo, base.sha, BRANCH)).rejects.toMatchObject({ code: 'auth' })
    expect(await runText(fixture.dir, 'cat', ['ran-as'])).toBe('')
  } else expect(await pushBranch(fixture.host, repo, base.sha, BRANCH)).toEqual({ status: 'pushed' })
})

test('a worktree, a .git file and a symbolic link lead to their repository', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  await runText(source, 'git', ['worktree', 'add', '-q', '-b', 'side', join(fixture.dir, 'tree')])
  await symlink(source, join(fixture.dir, 'link'))
  await fetchAndPush(fixture, localRepository(join(fixture.dir, 'link')))
  const repo = localRepository(join(fixture.dir, 'tree'))
  expect(await refreshMirror(fixture.host, repo)).toMatchObject({ default_branch: 'side' })
})

test('a folder that is not a repository is reported as such, without a trace of the mirror', async () => {
  await using fixture = await openGitFixture()
  await mkdir(join(fixture.dir, 'folder'))
  await writeFile(join(fixture.dir, 'file'), '')
  await mkdir(join(fixture.dir, 'half', '.git'), { recursive: true })
  await mkdir(join(fixture.dir, 'fake', 'objects'), { recursive: true })
  await writeFile(join(fixture.dir, 'fake', 'HEAD'), 'nonsense')
  const code = async (name: string) =>
    await refreshMirror(fixture.host, localRepository(join(fixture.dir, name))).then(
      () => 'fetched',
      error => error.code,
    )
  expect(await code('missing')).toBe('not_found')
  expect(await code('folder')).toBe('not_a_repository')
  expect(await code('file')).toBe('not_a_repository')
  expect(await code('half')).toBe('not_a_repository')
  expect(await code('fake')).toBe('not_a_repository')
  expect(
    (await runText(fixture.host.mirrors, 'ls', [])).split('\n').filter(name => name.endsWith('.git')),
  ).toEqual([])
})

test('a branch that the remote has checked out is refused, with the message of the remote', async () => {
  await using fixture = await openGitFixture()
  const path = await makeRepository(join(fixture.dir, 'source'))
  await runText(path, 'git', ['checkout', '-q', '-b', BRANCH])
  const repo = localRepository(path)
  await refreshMirror(fixture.host, repo)
  const sha = await runText(path, 'git', ['commit-tree', '-p', 'HEAD', '-m', 'next', 'HEAD^{tree}'])
  await runText(path, 'git', ['branch', 'next', sha])
  await refreshMirror(fixture.host, repo)
  await expect(pushBranch(fixture.host, repo, sha, BRANCH)).rejects.toMatchObject({
    code: 'rejected',
    message: expect.stringContaining('checked out'),
  })
})
