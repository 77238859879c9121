import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { isAlive, waitUntil } from '../processes.ts'
import { openProgram, runJoined, runProgram } from './run-program.ts'
import type { Program } from './start-program.ts'

const env = { PATH: '/usr/bin:/bin', ONE: 'x' }
const sh = (script: string, more: Partial<Program> = {}) =>
  runProgram({ program: 'sh', args: ['-c', script], cwd: '/', env, max_output_bytes: 1_000, ...more })
const pidIn = async (file: string) => {
  await expect.poll(() => readFileSync(file, { encoding: 'utf8', flag: 'a+' })).toMatch(/^\d+\n$/)
  return Number(readFileSync(file, 'utf8'))
}
const helperPid = async () => Number((await sh('echo $PPID').done).stdout)

test('the result has output, errors and exit code; the environment is the given one', async () => {
  expect(
    await sh('cat; env | grep -v -e PWD -e SHLVL -e _= | sort; pwd; echo no >&2; exit 3', { stdin: 'in\n' })
      .done,
  ).toEqual({
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

test('above the limit of its output, and at its timeout, a program is stopped with all that it started', async () => {
  expect(await sh('echo $$; exec yes').done).toMatchObject({
    stopped: 'output',
    code: null,
    stdout: { length: 1_000 },
  })
  const late = await sh('sleep 600 & echo $!; wait', { timeout_ms: 50 }).done
  expect(late).toMatchObject({ stopped: 'timeout', signal: 'SIGTERM' })
  expect(await waitUntil(() => !isAlive(Number(late.stdout)), 5_000)).toBe(true)
})

test('a program that is stopped leaves no process, though it ignores the first signal', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'pid')
  const program = sh(`trap '' TERM; sleep 600 & echo $! >${file}; wait; wait`)
  const pid = await pidIn(file)
  program.stop()
  expect(await program.done).toMatchObject({ stopped: 'request', signal: 'SIGKILL' })
  expect(isAlive(pid)).toBe(false)
})

test('a missing program', async () => {
  expect(
    await runProgram({ program: '/no/such', args: [], cwd: '/', env, max_output_bytes: 1 }).done,
  ).toMatchObject({
    code: null,
    start_error: expect.stringContaining('ENOENT'),
  })
})

test('a program that Node refuses to start ends none of the others', async () => {
  const other = sh('sleep 0.2; echo still here')
  const args = Array.from({ length: 4_000 }, () => 'x'.repeat(1_000))
  const long = await runProgram({ program: '/bin/true', args, cwd: '/', env, max_output_bytes: 1 }).done
  expect(long).toMatchObject({ code: null, start_error: expect.stringContaining('E2BIG') })
  expect((await other.done).stdout.toString()).toBe('still here\n')
})

test('the helper ignores signals to the process group; when it is killed, its programs end too, and the next has a new one', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'pid')
  const first = await helperPid()
  process.kill(first, 'SIGTERM')
  process.kill(first, 'SIGINT')
  expect(await helperPid()).toBe(first)
  const program = sh(`echo $$ >${file}; exec sleep 600`)
  const pid = await pidIn(file)
  // In order, so the program has been reported. One that a killed helper had started and not reported runs
  // on, as is documented.
  await sh(':').done
  process.kill(first, 'SIGKILL')
  expect(await program.done).toMatchObject({ code: null, stopped: 'lost', start_error: null })
  expect(await waitUntil(() => !isAlive(pid), 5_000)).toBe(true)
  expect(await helperPid()).not.toBe(first)
})

test('an open program gets what is written to it and is read to its end, and waits while nobody reads', async () => {
  const cat = openProgram({ program: 'cat', args: [], cwd: '/', env, max_output_bytes: 1 })
  cat.write('one ', false)
  cat.write('two', true)
  expect((await cat.output.toArray()).join('')).toBe('one two')
  expect(await cat.done).toMatchObject({ code: 0, stopped: null })
  using folder = temporaryFolder()
  const file = join(folder.path, 'written')
  const script = `for i in 1 2 3 4 5; do head -c 1000000 /dev/zero; echo $i >>${file}; done`
  const large = openProgram({ program: 'sh', args: ['-c', script], cwd: '/', env, max_output_bytes: 1 })
  const [first] = await once(large.output, 'readable').then(() => [large.output.read()])
  await sh('sleep 0.2').done
  expect(existsSync(file)).toBe(false)
  const rest = await large.output.toArray()
  expect(rest.reduce((sum: number, chunk: Buffer) => sum + chunk.length, first.length)).toBe(5_000_000)
  const unread = openProgram({ program: 'yes', args: [], cwd: '/', env, max_output_bytes: 1 })
  await once(unread.output, 'readable')
  unread.output.destroy()
  unread.stop()
  expect((await unread.done).stopped).toBe('request')
})

test('two joined programs talk through descriptor 3 of the first, and one that cannot be started ends both', async () => {
  const command = (script: string) => ({
    program: 'sh',
    args: ['-c', script],
    cwd: '/',
    env,
    max_output_bytes: 1_000,
  })
  const [own, peer] = runJoined(
    command('echo hello >&3; read -r line <&3; echo "$line"'),
    command('read -r line; echo "$line you"; exit 3'),
  )
  expect([(await own.done).stdout.toString(), (await peer.done).code]).toEqual(['hello you\n', 3])
  const [missing, alone] = runJoined({ ...command(''), program: '/no/such' }, command('cat'))
  expect([(await missing.done).start_error, (await alone.done).stdout.toString()]).toEqual([
    expect.stringContaining('ENOENT'),
    '',
  ])
})

test('the helper ends with its process and ends what it runs, and keeps it alive only while a program runs', async () => {
  const module = fileURLToPath(new URL('./run-program.ts', import.meta.url))
  const script = (keep: string) => `import { runProgram } from ${JSON.stringify(module)}
    const { stdout } = await runProgram({ program: 'sh', args: ['-c', 'echo $PPID'], cwd: '/', env: {}, max_output_bytes: 100 }).done
    process.stdout.write(stdout)
    ${keep}`
  const start = (keep: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', script(keep)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const idle = start('')
  expect((await once(idle, 'exit'))[0]).toBe(0)
  using folder = temporaryFolder()
  const file = join(folder.path, 'pid')
  const forever = JSON.stringify(`echo $$ >${file}; exec sleep 600`)
  const busy = start(
    `await runProgram({ program: 'sh', args: ['-c', ${forever}], cwd: '/', env: {}, max_output_bytes: 100 }).done`,
  )
  const pids = [Number((await once(busy.stdout, 'data'))[0]), await pidIn(file)]
  busy.kill('SIGKILL')
  expect(await waitUntil(() => !pids.some(isAlive), 5_000)).toBe(true)
})
