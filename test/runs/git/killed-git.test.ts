import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { signalProcess } from '../../../src/system/processes.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, finish, shell, startCodingApp } from '../coding-app.ts'

/** With it, git takes long enough to be found on a busy machine; a checkpoint still keeps it. */
const LARGE = 'head -c 10000000 /dev/urandom >large.bin; echo work >work.txt'

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

const allProcesses = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)

const bundling = ({ data_dir }: CodingApp): number[] =>
  allProcesses().filter(
    pid =>
      read(pid, 'cmdline').includes('\0bundle\0create\0') &&
      read(pid, 'mountinfo').includes(`${data_dir}/workspaces/`),
  )

/** Checkpoints are imported with other checks. */
const importing = ({ data_dir }: CodingApp): number[] =>
  allProcesses().filter(
    pid =>
      /\0index-pack\0.*\0--strict\0/s.test(read(pid, 'cmdline')) && read(pid, 'environ').includes(data_dir),
  )

/** Kills the first process that `find` returns. */
const killGit = (app: CodingApp, find: (app: CodingApp) => number[]): Promise<void> =>
  expect
    .poll(
      () =>
        find(app)
          .slice(0, 1)
          .map(pid => signalProcess(pid, 'SIGKILL')),
      { interval: 10, timeout: 60_000 },
    )
    .toHaveLength(1)

test.each([
  ['in the sandbox, while it exports the commit', bundling],
  ['on the host, while it imports the commit', importing],
])(
  'a git that is killed %s does not fail the run: it continues from its last checkpoint',
  async (_where, find) => {
    await using app = await startCodingApp((_request, n) => (n === 0 ? calls(shell(LARGE)) : finish('Done.')))
    const { id } = await createRun(app, { prompt: 'write a large file' })
    await killGit(app, find)
    const run = await awaitEnd(app, id)
    expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'Done.' })
    expect(app.git('show', `${run.branch}:work.txt`)).toBe('work\n')
    const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
    expect(errors).toMatchObject([{ observation: { code: 'git_killed', retryable: true } }])
  },
  120_000,
)
