import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { pushBranch } from '../../../src/git/publish/push.ts'
import { resolveRef } from '../../../src/git/read/revisions.ts'
import {
  type GitFixture,
  give,
  makeBare,
  makeRepository,
  openGitFixture,
  root,
  runText,
  SERVICE,
} from '../repositories.ts'

/** A fixture whose `ssh` records how it was called and, like a server, runs the last argument in a shell. */
async function folderWithSsh(
  allow_private: boolean,
  script: string,
): Promise<{ fixture: GitFixture; bare: string; calls: () => Promise<string[]> }> {
  const fixture = await openGitFixture({ allow_private })
  const bin = join(fixture.dir, 'bin')
  const log = join(fixture.dir, 'calls')
  await mkdir(bin)
  await writeFile(log, '')
  await chmod(log, 0o666)
  await writeFile(join(bin, 'ssh'), `#!/bin/bash\n(IFS=$'\\x1f'; echo "$*" >> ${log})\n${script}\n`, {
    mode: 0o755,
  })
  const bare = await makeBare(
    join(fixture.dir, 'remote.git'),
    await makeRepository(join(fixture.dir, 'source')),
  )
  if (root) await give(bare, SERVICE)
  const withSsh = { ...fixture, host: { ...fixture.host, path: `${bin}:${fixture.host.path}` } }
  return { fixture: withSsh, bare, calls: async () => (await readFile(log, 'utf8')).trim().split('\n') }
}

test('a repository is fetched and pushed over ssh: without prompts, without forwarding, with known hosts of our own', async () => {
  const { fixture, bare, calls } = await folderWithSsh(true, 'shift $(($# - 1)); exec sh -c "$1"')
  await using _ = fixture
  for (const [i, url] of [`git@127.0.0.1:${bare}`, `ssh://git@127.0.0.1:2222${bare}`].entries()) {
    const repo = { id: i + 1, kind: 'ssh' as const, url }
    expect(await refreshMirror(fixture.host, repo)).toMatchObject({ default_branch: 'main', changed: true })
    const base = await resolveRef(fixture.host, repo.id, null)
    if (!base || 'empty' in base) throw new Error('no base')
    expect(await pushBranch(fixture.host, repo, base.sha, `agent/run-${i + 1}-task`)).toEqual({
      status: 'pushed',
    })
    expect(await runText(bare, 'git', ['rev-parse', `agent/run-${i + 1}-task`])).toBe(base.sha)
  }
  for (const call of await calls()) {
    const words = call.split('\x1f')
    expect(words).toEqual(
      expect.arrayContaining([
        'BatchMode=yes',
        'ForwardAgent=no',
        `UserKnownHostsFile="${fixture.host.home}/known_hosts"`,
        'git@127.0.0.1',
      ]),
    )
  }
  expect((await calls()).some(call => call.includes('\x1f-p\x1f2222\x1f'))).toBe(true)
})

test('a key that is not accepted and a host that is not the known one are named as such', async () => {
  for (const complaint of [
    'git@127.0.0.1: Permission denied (publickey).',
    'Host key verification failed.',
  ]) {
    const { fixture } = await folderWithSsh(true, `echo ${JSON.stringify(complaint)} >&2; exit 255`)
    await using _ = fixture
    await expect(
      refreshMirror(fixture.host, { id: 1, kind: 'ssh', url: 'git@127.0.0.1:a/b' }),
    ).rejects.toMatchObject({
      code: 'auth',
      message: expect.stringContaining(complaint),
    })
  }
})

test('ssh connects to the checked address, with the host key of its name', async () => {
  const { fixture, calls } = await folderWithSsh(false, 'exit 255')
  await using _ = fixture
  await expect(
    refreshMirror(fixture.host, { id: 1, kind: 'ssh', url: 'git@140.82.121.3:a/b' }),
  ).rejects.toMatchObject({ name: 'GitError' })
  expect((await calls())[0]?.split('\x1f')).toEqual(
    expect.arrayContaining(['HostName=140.82.121.3', 'HostKeyAlias=140.82.121.3', 'ProxyCommand=none']),
  )
})
