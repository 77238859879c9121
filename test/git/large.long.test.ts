import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { readChanges } from '../../src/git/read/changes.ts'
import { listCommits } from '../../src/git/read/commits.ts'
import { resolveRef } from '../../src/git/read/revisions.ts'
import { localRepository, makeBare, openGitFixture } from './repositories.ts'
import { openWorkspace } from './workspace/workspace.ts'

/**
 * Writes a history straight into a bare repository: `commits` of `files_each` new files of `bytes_each`
 * random bytes.
 */
async function fill(bare: string, commits: number, files_each: number, bytes_each: number): Promise<void> {
  const child = spawn('git', ['-C', bare, '-c', 'core.fsync=none', 'fast-import', '--quiet', '--done'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const write = async (data: string | Buffer) => child.stdin.write(data) || (await once(child.stdin, 'drain'))
  for (let c = 0; c < commits; c++) {
    await write(`commit refs/heads/main\ncommitter A <a@example.org> ${1_700_000_000 + c} +0000\ndata 2\nc\n`)
    for (let f = 0; f < files_each; f++) {
      await write(`M 100644 inline dir-${f % 100}/file-${c}-${f}\ndata ${bytes_each}\n`)
      await write(randomBytes(bytes_each))
      await write('\n')
    }
  }
  child.stdin.end('done\n')
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`fast-import ended with ${code}`)
}

test('a repository with 20,000 files is cloned, changed in every file, and delivered', async () => {
  await using fixture = await openGitFixture()
  const bare = await makeBare(join(fixture.dir, 'remote.git'))
  await fill(bare, 1, 20_000, 40)
  const repo = localRepository(bare)
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  const workspace = await openWorkspace(fixture, repo, base.sha)
  expect(await workspace.clone()).toMatchObject({ exit_code: 0, output: '' })
  expect((await workspace.bash('git status --porcelain; git ls-files | wc -l')).output.trim()).toBe('20000')
  await workspace.bash(
    'find . -name "file-*" -path "./dir-*" -exec rm {} +; for i in $(seq 3000); do echo $i > new-$i; done',
  )
  const { head_sha } = await workspace.commit()
  await workspace.deliver(head_sha ?? '')
  await rm(workspace.dir, { recursive: true })
  const changes = await readChanges(fixture.host, repo.id, base.sha, head_sha ?? '', {
    max_patch_bytes: 200_000,
  })
  expect(changes).toMatchObject({ files_changed: 23_000, patch_truncated: true })
  expect((await listCommits(fixture.host, repo.id, base.sha, head_sha ?? ''))[0]?.files).toHaveLength(23_000)
}, 120_000)

test('a history of tens of megabytes is mirrored whole and borrowed, not copied, by the workspace', async () => {
  await using fixture = await openGitFixture()
  const bare = await makeBare(join(fixture.dir, 'remote.git'))
  await fill(bare, 40, 1, 1_000_000)
  const repo = localRepository(bare)
  await refreshMirror(fixture.host, repo)
  const base = await resolveRef(fixture.host, repo.id, null)
  if (!base || 'empty' in base) throw new Error('no base')
  const workspace = await openWorkspace(fixture, repo, base.sha)
  expect(await workspace.clone()).toMatchObject({ exit_code: 0, output: '' })
  expect((await workspace.bash('git rev-list --count HEAD')).output.trim()).toBe('40')
  expect(Number((await workspace.bash('du -sk .git | cut -f1')).output)).toBeLessThan(200)
})
