import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../../src/git/process/git-host.ts'
import { importBundle } from '../../../src/git/publish/bundles.ts'
import { commitCommand, parseCommit } from '../../../src/git/workspace/commit-command.ts'
import { localRepository, makeRepository, openGitFixture, runText } from '../repositories.ts'
import { openWorkspace } from './workspace.ts'

/** A cloned workspace in which the folder `ignored` is not part of a commit. */
async function ready() {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'), { '.gitignore': 'ignored/\n' })
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const workspace = await openWorkspace(fixture, repo, base)
  const cloned = await workspace.clone()
  if (cloned.exit_code !== 0) throw new Error(cloned.output)
  return { fixture, workspace, base, repo, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() }
}

test('a command that commits writes the bundle of its commit, unless the host has the commit', async () => {
  await using set = await ready()
  const { fixture, workspace, repo, base } = set
  const commit = async (exported_sha: string | null) => {
    const command = commitCommand({
      ...workspace.input,
      message: 'x',
      at: new Date('2026-11-20T10:30:00Z'),
      exported_sha,
    })
    const ran = await workspace.bash(command)
    return { ...parseCommit(ran.exit_code, ran.stderr), bundle: ran.stdout }
  }
  expect(await commit(null)).toMatchObject({ head_sha: base, bundled: false, bundle: Buffer.alloc(0) })
  await workspace.bash('echo a >a')
  const { head_sha, bundled, bundle } = await commit(null)
  expect(bundled).toBe(true)
  const file = join(fixture.dir, 'of-the-commit.bundle')
  await writeFile(file, bundle)
  const objects = { repository_id: repo.id, run_id: 8 }
  const range = { base_sha: base, head_sha: head_sha ?? '' }
  expect(await importBundle(fixture.host, objects, file, range)).toMatchObject({
    blobs: [{ path: 'a', bytes: 2 }],
    parents: new Set([base]),
  })
  const again = { head_sha, committed: false, bundled: true }
  expect(await commit(null)).toMatchObject(again)
  expect(await commit(head_sha ?? '')).toMatchObject({ ...again, bundled: false, bundle: Buffer.alloc(0) })
})

test.each([
  [
    'objects are borrowed from a further repository',
    'git init -q ignored/other; cd ignored/other; echo a >a; git add a; git commit -qm a; cd ../..; echo "$PWD/ignored/other/.git/objects" >>.git/objects/info/alternates; git update-index --add --cacheinfo "100644,$(git -C ignored/other rev-parse HEAD:a),a"; git checkout-index a',
  ],
  [
    'refs are those of another repository',
    'mkdir ignored; cp -r .git ignored/common; echo "$PWD/ignored/common" >.git/commondir; echo a >a',
  ],
])('a commit is delivered although %s', async (_, command) => {
  await using set = await ready()
  const ran = await set.workspace.bash(command)
  expect(ran.exit_code, ran.output).toBe(0)
  const { head_sha, committed } = await set.workspace.commit()
  expect(committed).toBe(true)
  await set.workspace.deliver(head_sha ?? '')
  const tree = await runText(mirrorPath(set.fixture.host, set.repo.id), 'git', [
    'ls-tree',
    '--name-only',
    head_sha ?? '',
  ])
  expect(tree.split('\n')).toContain('a')
})
