import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownIdentity, runGit, startGit } from '../../src/git/process/run-git.ts'
import { makeRepository, openGitFixture, run } from './repositories.ts'

const MIB = 1024 ** 2

/** A repository in which 12 objects expand to 10^10 paths. */
async function treeBomb(folder: string): Promise<string> {
  const blob = (await run(folder, 'git', ['hash-object', '-w', '--stdin'], { input: 'x' })).toString().trim()
  let sha = blob
  for (let level = 0; level < 10; level++) {
    const entry = (n: number) => `${level === 0 ? '100644 blob' : '040000 tree'} ${sha}\t${n}\n`
    sha = (
      await run(folder, 'git', ['mktree'], { input: Array.from({ length: 10 }, (_, n) => entry(n)).join('') })
    )
      .toString()
      .trim()
  }
  return (await run(folder, 'git', ['commit-tree', '-m', 'bomb', sha])).toString().trim()
}

test('each git process on the host, and what it starts, has a limit of memory and of processor time, and is what the kernel ends first', async () => {
  await using fixture = await openGitFixture({ memory_bytes: 512 * MIB })
  const alias = ['-c', 'alias.look=!cat /proc/self/limits /proc/self/oom_score_adj', 'look']
  const { stdout } = await runGit(fixture.host, { args: alias, timeout_ms: 90_000 })
  const text = stdout.toString()
  expect(text).toMatch(new RegExp(`Max data size +${512 * MIB} +${512 * MIB} +bytes`))
  expect(text).toMatch(/Max cpu time +182 +187 +seconds/)
  expect(Number(text.trim().split('\n').at(-1))).toBeGreaterThanOrEqual(500)
})

test('the process itself is git: none stays in front of it', async () => {
  await using fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const call = {
    args: ['cat-file', '--batch'],
    git_dir: join(source, '.git'),
    config: { 'safe.directory': '*' },
  }
  const { child, done } = startGit(fixture.host, ownIdentity(fixture.host), call, {
    input: 'pipe',
    output: 'pipe',
  })
  const response = new Promise(resolve => child.stdout?.once('data', resolve))
  child.stdin?.write('HEAD\n')
  await response
  expect(readFileSync(`/proc/${child.pid}/comm`, 'latin1').trim()).toBe('git')
  expect(Number(readFileSync(`/proc/${child.pid}/oom_score_adj`, 'latin1'))).toBeGreaterThanOrEqual(500)
  child.stdout?.resume()
  child.stdin?.end()
  await done
})

test('git that needs more memory than its limit ends with an error that names the limit', async () => {
  await using fixture = await openGitFixture({ memory_bytes: 64 * MIB })
  const source = await makeRepository(join(fixture.dir, 'source'))
  const bomb = await treeBomb(source)
  const call = {
    args: ['log', '--name-only', '-1', bomb],
    git_dir: join(source, '.git'),
    config: { 'safe.directory': '*' },
  }
  await expect(runGit(fixture.host, call)).rejects.toMatchObject({
    code: 'too_large',
    message: 'git needs more memory than the 64 MiB that it may use (AGENTRUN_GIT_MEMORY_BYTES)',
  })
})
