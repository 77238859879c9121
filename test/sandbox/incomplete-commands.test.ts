import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts'
import { spawnBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap-process.ts'
import { createPipeFolder } from '../../src/sandbox/commands/pipe-folder.ts'
import { SandboxLostError } from '../../src/sandbox/port.ts'
import { prepareRuntimeFolder } from '../../src/sandbox/process/runtime-folder.ts'
import { startSandbox as startInPipes } from '../../src/sandbox/process/start-sandbox.ts'
import { createWatchdog } from '../../src/sandbox/process/watchdog.ts'
import { detectResources } from '../../src/sandbox/resources/detect.ts'
import { mountSmallDisk, whyNoSmallDisk } from '../faults/small-disk.ts'
import {
  limits,
  makeDriver,
  path,
  plainDriver,
  promises,
  sandbox_user,
  startSandbox,
} from './start-sandbox.ts'

const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())

/** A command that leaves a mark, succeeds, and fails only in its last line. */
const longCommand = (bytes: number) => `echo ran >>mark\n${'# filler\n'.repeat(bytes / 9)}exit 7`
const kinds = ['shell', 'separate'] as const

test.skipIf(whyNoSmallDisk() !== null || promises.driver !== 'bubblewrap').each([
  ['overwrites a file', 20_000],
  ['replaces a file', 400_000],
])('a command that the full disk of the host cuts short is never run: one that %s', async (_name, bytes) => {
  using disk = mountSmallDisk(32 * 1024 ** 2)
  for (const kind of kinds) {
    disk.free()
    const workspace = created.makeWorkspace(`full-${kind}-${bytes}`)
    await using box = await startSandbox(plainDriver(join(disk.path, kind)), workspace)
    expect(await box[kind]('echo before')).toMatchObject({ text: 'before\n' })
    disk.fill()
    await expect(box[kind](longCommand(bytes))).rejects.toThrow(SandboxLostError)
    expect(existsSync(join(workspace, 'mark'))).toBe(false)
  }
})

test.skipIf(promises.driver !== 'bubblewrap').each([
  ['the file ends within the command', (file: Buffer) => file.subarray(0, 40)],
  [
    'the rest is that of the command before',
    (file: Buffer, before: Buffer) => Buffer.concat([file.subarray(0, 40), before.subarray(40)]),
  ],
  ['the mark is missing', (file: Buffer) => file.subarray(0, file.indexOf(0) + 1)],
])('a command is refused inside when %s', async (name, damage) => {
  const runtime = prepareRuntimeFolder(join(created.folder, 'runtime'))
  const host = {
    start_timeout_ms: 10_000,
    runtime,
    resources: detectResources(),
    user: sandbox_user,
    node_path: process.execPath,
    bwrap_path: findBubblewrap(['/usr/bin/bwrap'], path) ?? '',
    watchdog: createWatchdog(),
    pipes: runtime.pipes,
  }
  const workspace = created.makeWorkspace(name.replaceAll(' ', '-'))
  const spec = { workspace, read_only: [], limits }
  let is_damaged = false
  await using sandbox = await startInPipes(spec, host, pipes => {
    const write = pipes.writeCommand
    pipes.writeCommand = async (slot, command) => {
      const before = readFileSync(slot.path('command'))
      await write(slot, command)
      if (is_damaged) writeFileSync(slot.path('command'), damage(readFileSync(slot.path('command')), before))
    }
    return spawnBubblewrap(spec, pipes.path, host)
  })
  const run = (shell: 'persistent' | 'separate', command: string) =>
    sandbox.exec({ command, shell, timeout_ms: 10_000, max_output_bytes: 1_000 })
  for (const shell of ['persistent', 'separate'] as const) {
    is_damaged = false
    expect(await run(shell, `echo earlier${longCommand(900)}`)).toMatchObject({ exit_code: 7 })
    is_damaged = true
    const { exit_code, output } = await run(shell, `echo ran >>${shell}; true ${longCommand(300)}`)
    expect([exit_code, Buffer.from(output).toString()]).toEqual([126, 'bash: the command is incomplete\n'])
    expect(existsSync(join(workspace, shell))).toBe(false)
  }
})

test('the mark of a command differs from the mark of every earlier one in its folder', async () => {
  const parent = join(created.folder, 'pipes')
  mkdirSync(parent)
  const pipes = createPipeFolder(parent, sandbox_user)
  const slot = await pipes.takeSlot()
  const marks: string[] = []
  for (let n = 0; n < 20; n++) {
    await pipes.writeCommand(slot, 'true')
    marks.push(slot.command_end)
  }
  expect(new Set(marks).size).toBe(20)
  pipes.remove()
})
