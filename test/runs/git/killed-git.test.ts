import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signalProcess } from '../../../src/system/processes.ts'
import { testFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, finish, makeRepository, shell, startCodingApp } from '../coding-app.ts'

const large = (bytes: number) => `head -c ${bytes} /dev/urandom >large.bin; echo work >work.txt`
/**
 * Much more than the pipes take between a sandbox and this process, which looks for git while it reads them.
 */
const EXPORTED_BYTES = 10_000_000
/** More than a git reads that dies of its import. */
const IMPORTED_BYTES = 2_000_000

/**
 * The PATH of a git that dies within its first import of a commit: what it has read until then is written.
 * Checkpoints are imported with other checks.
 */
function dyingGit(): string {
  const folder = testFolder()
  const [killed, script] = [join(folder, 'killed'), join(folder, 'git')]
  mkdirSync(killed)
  chmodSync(killed, 0o777)
  const lines = [
    '#!/bin/sh',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    `case " $* " in *' index-pack '*' --strict '*)`,
    `  if mkdir ${killed}/once 2>/dev/null; then head -c ${IMPORTED_BYTES / 2} | git "$@"; kill -9 $$; fi`,
    'esac',
    'exec git "$@"',
  ]
  writeFileSync(script, `${lines.join('\n')}\n`, { mode: 0o755 })
  return `${folder}:/usr/local/bin:/usr/bin:/bin`
}

const startAppWith = (bytes: number, options: { git_path?: string } = {}) =>
  startCodingApp(
    (_request, n) => (n === 0 ? calls(shell(large(bytes))) : finish('Done.')),
    {},
    makeRepository(),
    options,
  )

async function expectContinued(app: CodingApp, id: number): Promise<void> {
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'Done.' })
  expect(app.git('show', `${run.branch}:work.txt`)).toBe('work\n')
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors).toMatchObject([{ observation: { code: 'git_killed', retryable: true } }])
}

function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

const bundling = ({ data_dir }: CodingApp): number[] =>
  readdirSync('/proc')
    .filter(
      pid =>
        read(pid, 'cmdline').includes('\0--delta-base-offset\0--local\0') &&
        read(pid, 'mountinfo').includes(`${data_dir}/workspaces/`),
    )
    .map(Number)

test('a git that is killed in the sandbox, while it exports the commit, does not fail the run: it continues from its last checkpoint', async () => {
  await using app = await startAppWith(EXPORTED_BYTES)
  const { id } = await createRun(app, { prompt: 'write a large file' })
  const kill = () =>
    bundling(app)
      .slice(0, 1)
      .map(pid => signalProcess(pid, 'SIGKILL'))
  await expect.poll(kill, { interval: 10, timeout: 60_000 }).toHaveLength(1)
  await expectContinued(app, id)
}, 120_000)

test('a git that is killed on the host, while it imports the commit, does not fail the run: it continues from its last checkpoint', async () => {
  await using app = await startAppWith(IMPORTED_BYTES, { git_path: dyingGit() })
  const { id } = await createRun(app, { prompt: 'write a large file' })
  await expectContinued(app, id)
}, 120_000)
