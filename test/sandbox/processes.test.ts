import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SandboxLostError } from '../../src/sandbox/port.ts'
import { waitUntil } from '../../src/system/processes.ts'
import { makeDriver, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
let box: TestSandbox

beforeAll(async () => {
  box = await startSandbox(created.driver, created.makeWorkspace('processes'))
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  await created[Symbol.asyncDispose]()
})

/** Starts a process and collects its standard output; `printed` resolves when that contains a text. */
function open(
  command: string,
  options: { signal?: AbortSignal; kills_descendants?: boolean; sandbox?: TestSandbox } = {},
) {
  const { sandbox = box, ...rest } = options
  let output = ''
  let check = () => {}
  const on_stdout = (chunk: Uint8Array) => {
    output += Buffer.from(chunk).toString()
    check()
  }
  const process = sandbox.sandbox.openProcess({ command, max_output_bytes: 1_000, on_stdout, ...rest })
  const printed = (text: string) =>
    new Promise<void>(resolve => {
      check = () => output.includes(text) && resolve()
      check()
    })
  return { ...process, printed, output: () => output }
}

it('exchanges messages with a process over its standard streams, until its input is closed', async () => {
  const echo = open('while read -r line; do echo "got $line"; done; echo closed; echo warned >&2; exit 3')
  echo.stdin.write('one\n')
  await echo.printed('got one\n')
  echo.stdin.write('two\n')
  await echo.printed('got two\n')
  echo.stdin.end()
  const { output, ...end } = await echo.ended
  expect(echo.output()).toBe('got one\ngot two\nclosed\n')
  expect(end).toMatchObject({ status: 'exited', exit_code: 3 })
  expect(Buffer.from(output).toString()).toBe('warned\n')
})

it('passes megabytes in both directions unchanged', async () => {
  const bytes = Buffer.alloc(3_000_000, 'The quick brown fox jumps over the lazy dog. ')
  const chunks: Uint8Array[] = []
  const on_stdout = async (chunk: Uint8Array) => {
    await new Promise(resolve => setImmediate(resolve))
    chunks.push(chunk)
  }
  const cat = box.sandbox.openProcess({ command: 'exec cat', max_output_bytes: 100, on_stdout })
  cat.stdin.end(bytes)
  expect(await cat.ended).toMatchObject({ status: 'exited', exit_code: 0 })
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
})

it('runs beside the shell and separate commands, in /workspace', async () => {
  const process = open('pwd; read -r; echo done')
  await process.printed('/workspace\n')
  await box.shell('cd /tmp; sleep 0.01')
  expect((await box.separate('echo separate')).text).toBe('separate\n')
  process.stdin.write('\n')
  await process.ended
  expect(process.output()).toBe('/workspace\ndone\n')
})

/**
 * The programs that match and run. Until process 1 has collected it, a process that was killed is listed too,
 * as a zombie.
 */
const running = async (pattern: string) => (await box.separate(`pgrep -c -r R,S,D,T ${pattern}`)).text
const uncollected = async () => (await box.separate('pgrep -c -r Z .')).text

it('kills a process and its children when its signal is aborted', async () => {
  const stop = new AbortController()
  const process = open('sleep 1000 & echo started; exec sleep 1001', { signal: stop.signal })
  await process.printed('started')
  stop.abort()
  expect(await process.ended).toMatchObject({ status: 'interrupted', exit_code: null })
  expect(await running('-x sleep')).toBe('0\n')
  expect(await waitUntil(async () => (await uncollected()) === '0\n', 10_000)).toBe(true)
})

it('leaves nothing of what a process started when that has ended by itself, if this is requested', async () => {
  const detached =
    '(setsid sleep 1234 </dev/null >/dev/null 2>&1 9>&- &); until pgrep -f "sleep 123[4]" >/dev/null; do sleep 0.01; done'
  const left = () => running('-f "sleep 123[4]"')
  await open(detached).ended
  expect(await left()).toBe('1\n')
  await box.separate('pkill -f "sleep 123[4]"')
  const beside = open('read -r; echo done')
  expect(await open(detached, { kills_descendants: true }).ended).toMatchObject({
    status: 'exited',
    exit_code: 0,
  })
  expect(await left()).toBe('0\n')
  // Another process is not part of it.
  beside.stdin.write('\n')
  await beside.ended
  expect(beside.output()).toBe('done\n')
})

it('fails a write after the end of the process, and gives its pipes to no other command', async () => {
  const process = open('exec 7<&0; (sleep 1000 <&7 >/dev/null 2>&1 9>&- &) ; exit 0')
  await process.ended
  const error = await new Promise(resolve => process.stdin.write('late\n', resolve))
  expect(error).toMatchObject({ code: 'ERR_STREAM_DESTROYED' })
  const next = open('read -r line; echo "got $line"')
  next.stdin.write('mine\n')
  await next.ended
  expect(next.output()).toBe('got mine\n')
})

it('reports a program that does not exist by its exit code and standard error', async () => {
  const process = open('exec no-such-program')
  const { exit_code, output } = await process.ended
  expect(exit_code).toBe(127)
  expect(Buffer.from(output).toString()).toContain('no-such-program')
})

it('kills the process when its output cannot be handled, and rejects with that error', async () => {
  const on_stdout = () => {
    throw new Error('garbage')
  }
  const process = box.sandbox.openProcess({
    command: 'echo hello; exec sleep 1000',
    max_output_bytes: 100,
    on_stdout,
  })
  await expect(process.ended).rejects.toThrow('garbage')
  expect((await box.separate('pgrep -x sleep -f 1000 || echo none')).text).not.toContain('exec sleep 1000')
})

it('loses its processes with the sandbox', async () => {
  await using other = await startSandbox(created.driver, created.makeWorkspace('ends'))
  const process = open('echo started; exec sleep 1000', { sandbox: other })
  await process.printed('started')
  const lost = expect(process.ended).rejects.toThrow(SandboxLostError)
  await other.sandbox.stop()
  await lost
  expect(readdirSync(join(created.folder, 'workspaces', 'ends'))).toEqual([])
})
