import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isAlive, waitUntil } from '../processes.ts'
import { runCommand } from './run-program.ts'
import type { Command } from './start-program.ts'

const env = { PATH: '/usr/bin:/bin', ONE: 'x' }
const sh = (script: string, more: Partial<Command> = {}) =>
  runCommand({ program: 'sh', args: ['-c', script], cwd: '/', env, max_output_bytes: 1_000, ...more })
const helperPid = async () => Number((await sh('echo $PPID').done).stdout)

test('the result has output, errors and exit code; the environment is the given one', async () => {
  expect(await sh('cat; env | grep -v -e PWD -e SHLVL -e _= | sort; pwd; echo no >&2; exit 3', { stdin: 'in\n' }).done).toEqual({
    code: 3,
    signal: null,
    stdout: Buffer.from('in\nONE=x\nPATH=/usr/bin:/bin\n/\n'),
    stderr: 'no\n',
    stopped: null,
    start_error: null,
  })
  const bytes = Buffer.from([0, 255, 10, 128])
  expect((await sh('cat', { stdin: bytes }).done).stdout).toEqual(bytes)
})

test('parallel commands get their own results', async () => {
  const ends = await Promise.all(Array.from({ length: 40 }, (_, n) => sh(`echo ${n}`).done))
  expect(ends.map(end => Number(end.stdout))).toEqual(Array.from({ length: 40 }, (_, n) => n))
})

test('above the limit of its output, and at its timeout, a command is stopped with all that it started', async () => {
  expect(await sh('echo $$; exec yes').done).toMatchObject({ stopped: 'output', code: null, stdout: { length: 1_000 } })
  const late = await sh('sleep 600 & echo $!; wait', { timeout_ms: 50 }).done
  expect(late).toMatchObject({ stopped: 'timeout', signal: 'SIGTERM' })
  expect(await waitUntil(() => !isAlive(Number(late.stdout)), 5_000)).toBe(true)
})

test('a command that is stopped leaves no process, though it ignores the first signal', async () => {
  const command = sh("trap '' TERM; sleep 600 & echo $!; wait; wait")
  command.stop()
  const { stopped, stdout } = await command.done
  expect(stopped).toBe('request')
  if (stdout.length > 0) expect(await waitUntil(() => !isAlive(Number(stdout)), 5_000)).toBe(true)
})

test('a missing program', async () => {
  expect(await runCommand({ program: '/no/such', args: [], cwd: '/', env, max_output_bytes: 1 }).done).toMatchObject({
    code: null,
    start_error: expect.stringContaining('ENOENT'),
  })
})

test('the helper ignores signals to the process group; when it is killed, its commands end with an error and the next has a new one', async () => {
  const first = await helperPid()
  process.kill(first, 'SIGTERM')
  process.kill(first, 'SIGINT')
  expect(await helperPid()).toBe(first)
  const command = sh('sleep 600')
  process.kill(first, 'SIGKILL')
  expect(await command.done).toMatchObject({ code: null, start_error: 'the process that runs commands has ended' })
  expect(await helperPid()).not.toBe(first)
})

test('the helper ends with its process, and keeps it alive only while a command runs', async () => {
  const module = fileURLToPath(new URL('./run-program.ts', import.meta.url))
  const script = (keep: string) => `import { runCommand } from ${JSON.stringify(module)}
    const { stdout } = await runCommand({ program: 'sh', args: ['-c', 'echo $PPID'], cwd: '/', env: {}, max_output_bytes: 100 }).done
    process.stdout.write(stdout)
    ${keep}`
  const start = (keep: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', script(keep)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const idle = start('')
  expect((await once(idle, 'exit'))[0]).toBe(0)
  const busy = start('setInterval(() => {}, 1000)')
  const pid = Number((await once(busy.stdout, 'data'))[0])
  busy.kill('SIGKILL')
  expect(await waitUntil(() => !isAlive(pid), 5_000)).toBe(true)
})
