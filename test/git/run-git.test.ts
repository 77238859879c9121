import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../src/git/process/run-git.ts'
import { makeRepository, openGitFixture, root, runText, SERVICE } from './repositories.ts'

test('git sees nothing of our environment and runs as the service user', async () => {
  await using fixture = await openGitFixture()
  const { stdout } = await runGit(fixture.host, {
    program: 'sh',
    args: ['-c', 'id -u; env'],
    env: { EXTRA: 'given' },
  })
  const [uid, ...env] = stdout.toString().trim().split('\n')
  expect(uid).toBe(String(root ? SERVICE.uid : process.getuid?.()))
  const names = env
    .map(line => line.split('=')[0] ?? '')
    .filter(name => !/^(GIT_|LC_|_$|PWD|OLDPWD|SHLVL)/.test(name))
  expect(names.sort()).toEqual(['EXTRA', 'HOME', 'LANG', 'PATH', 'SSH_ASKPASS', 'TZ'])
  expect(env).toContain('GIT_ALLOW_PROTOCOL=none')
})

test('git has no transport by default', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  for (const url of [source, `file://${source}`, 'https://127.0.0.1:1/x', `ext::git-upload-pack ${source}`]) {
    const { exit_code, stderr } = await runGit(fixture.host, { args: ['ls-remote', '--', url] })
    expect([exit_code, stderr]).toEqual([128, expect.stringContaining('not allowed')])
  }
})

test('too much output is an error or truncated, as configured', async () => {
  await using fixture = await openGitFixture()
  const call = { program: 'sh' as const, args: ['-c', 'exec cat /dev/zero'], max_output_bytes: 1_000 }
  await expect(runGit(fixture.host, call)).rejects.toMatchObject({ code: 'too_large' })
  const cut = await runGit(fixture.host, { ...call, on_overflow: 'cut' })
  expect(cut).toMatchObject({ exit_code: null, truncated: true, stdout: Buffer.alloc(1_000) })
})

test('time limit and abort end git and what it started, however it resists', async () => {
  await using fixture = await openGitFixture()
  const pids = join(fixture.dir, 'pids')
  await writeFile(pids, '')
  await runText('/', 'chmod', ['666', pids])
  const child = `sh -c 'trap "" TERM; echo $$ >> ${pids}; while :; do sleep 1; done' & echo $$ >> ${pids}; wait`
  const stubborn = `trap "" TERM; ${child}`
  await expect(
    runGit(fixture.host, { program: 'sh', args: ['-c', child], timeout_ms: 500 }),
  ).rejects.toMatchObject({ code: 'timeout' })
  await expect(
    runGit(fixture.host, { program: 'sh', args: ['-c', stubborn], timeout_ms: 500 }),
  ).rejects.toMatchObject({ code: 'timeout' })
  const stop = new AbortController()
  const run = runGit(fixture.host, { program: 'sh', args: ['-c', stubborn], signal: stop.signal })
  stop.abort(new Error('no more'))
  await expect(run).rejects.toThrow('no more')
  const alive = await runText('/', 'sh', [
    '-c',
    `for p in $(cat ${pids}); do grep -s "^State:" /proc/$p/status; done`,
  ]).catch(() => '')
  expect(alive.split('\n').filter(line => line !== '' && !line.includes('zombie'))).toEqual([])
})

test('a process that git left running does not delay the result', async () => {
  await using fixture = await openGitFixture()
  const { exit_code, stdout } = await runGit(fixture.host, {
    program: 'sh',
    args: ['-c', 'setsid sleep 600 & echo $!; exit 3'],
  })
  expect(exit_code).toBe(3)
  process.kill(Number(stdout.toString()), 'SIGKILL')
})

test('a missing git is reported as missing', async () => {
  await using fixture = await openGitFixture({ path: '/nonexistent' })
  await expect(runGit(fixture.host, { args: ['version'] })).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('cannot be started'),
  })
})

test('secrets given to git do not reach its complaints', async () => {
  await using fixture = await openGitFixture()
  const { stderr } = await runGit(fixture.host, {
    program: 'sh',
    args: ['-c', 'echo "bad password $TOKEN" >&2; exit 1'],
    env: { TOKEN: 'hunter2-hunter2' },
  })
  expect(stderr).toBe('bad password ***\n')
})

test('the error output of a program is its last lines, none of them without its beginning', async () => {
  await using fixture = await openGitFixture()
  const stderrOf = async (script: string) =>
    (await runGit(fixture.host, { program: 'sh', args: ['-c', script] })).stderr
  expect(await stderrOf('printf "one\\ntwo" >&2')).toBe('one\ntwo')
  const line = 'x'.repeat(9_000)
  // The border is in the first line, behind the first characters of what could be a secret.
  expect(await stderrOf(`printf 'secret%s\\n%s' ${line} ${line} >&2`)).toBe(`\n${line}`)
  expect(await stderrOf(`printf '%s%s' ${line} ${line} >&2`)).toBe('')
})
