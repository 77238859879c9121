import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createBubblewrapDriver, findBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts'
import { explainFailure } from '../../src/sandbox/bubblewrap/explain-failure.ts'
import { SandboxError } from '../../src/sandbox/port.ts'
import { isAlive, processIds, signalProcess, waitUntil } from '../../src/system/processes.ts'
import {
  limits,
  makeDriver,
  noTest,
  path,
  plainDriver,
  promises,
  sandbox_user,
  startSandbox,
} from './start-sandbox.ts'

const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())

/** Living processes of the whole machine that have `text` on their command line. */
function alive(text: string): number[] {
  return processIds().filter(pid => {
    try {
      return isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false
    }
  })
}

/** Of this process: one that was killed leaves its own to the next start. */
const pipeFolders = () =>
  readdirSync(join(created.folder, 'runtime/pipes')).filter(name => name.startsWith(`${process.pid}-`))

/** A number of seconds that no other process sleeps. */
let next_mark = 0
const mark = () => `${7_000_000 + process.pid}.${++next_mark}`

it('A35: stop leaves no process, not even a daemon, and no file of the host behind', async () => {
  const seconds = mark()
  const box = await startSandbox(created.driver, created.makeWorkspace('stopped'))
  await box.shell(`sleep ${seconds} & (setsid nohup sleep ${seconds} >/dev/null 2>&1 &); trap '' TERM`)
  await waitUntil(() => alive(seconds).length === 2, 5_000)
  expect(alive(seconds)).toHaveLength(2)
  await box.sandbox.stop()
  expect(alive(seconds)).toEqual([])
  expect(pipeFolders()).toEqual([])
})

/** A process that owns a sandbox with a daemon in it, which sleeps for `seconds`. */
async function startOwner(name: string, seconds: string) {
  const workspace = created.makeWorkspace(name)
  const command = `(setsid sleep ${seconds} &)`
  const given = JSON.stringify({ runtime_dir: join(created.folder, 'runtime'), workspace, command })
  const owner = spawn(process.execPath, [join(import.meta.dirname, 'owner-process.ts'), given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(owner.stdout, 'data')
  expect(alive(seconds).length).toBeGreaterThan(0)
  return { owner }
}

it('B43: kill -9 of the owner leaves no process of the sandbox', async () => {
  const seconds = mark()
  const { owner } = await startOwner('orphaned', seconds)
  // The helper that runs commands; bubblewrap and its supervisor, while a container is not a child of ours.
  const children = processIds().filter(pid => readStatus(pid).includes(`PPid:\t${owner.pid}\n`))
  expect(children).toHaveLength(promises.driver === 'bubblewrap' ? 3 : 1)
  owner.kill('SIGKILL')
  expect(await waitUntil(() => ![...alive(seconds), ...children].some(isAlive), 5_000)).toBe(true)
  const leftover = () =>
    readdirSync(join(created.folder, 'runtime/pipes')).filter(name => name.startsWith(`${owner.pid}-`))
  expect(leftover()).toHaveLength(1)
  expect(await plainDriver(join(created.folder, 'runtime')).selfTest()).toEqual({ ok: true })
  expect(leftover()).toEqual([])
})

it.each(['SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGTERM'] as const)(
  'a %s of the terminal, which all processes of the owner get, interrupts no command',
  async signal => {
    const workspace = created.makeWorkspace(`terminal-${signal}`)
    const last = `echo >>started-$$; until [[ -e go ]]; do sleep 0.05; done`
    const given = JSON.stringify({
      runtime_dir: join(created.folder, 'runtime'),
      workspace,
      command: ':',
      last,
    })
    const file = join(import.meta.dirname, 'owner-process.ts')
    const owner = spawn(process.execPath, [file, given], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    let output = ''
    owner.stdout.setEncoding('utf8').on('data', text => {
      output += text
    })
    const ended = once(owner, 'close')
    try {
      const started = () => readdirSync(workspace).filter(name => name.startsWith('started-')).length === 2
      expect(await waitUntil(started, 10_000)).toBe(true)
      process.kill(-(owner.pid ?? 0), signal)
      writeFileSync(join(workspace, 'go'), '')
      expect(await ended).toEqual([0, null])
      const end = { status: 'exited', exit_code: 0 }
      expect(JSON.parse(output.split('\n').at(-2) ?? '')).toEqual([end, end])
    } finally {
      owner.kill('SIGKILL')
      await ended
    }
  },
)

it('I8: an owner that is frozen loses its sandbox meanwhile, without another process that ends it', async () => {
  const seconds = mark()
  const { owner } = await startOwner('frozen', seconds)
  const ended = once(owner, 'exit')
  try {
    owner.kill('SIGSTOP')
    // The owner has the mark on its own command line.
    expect(await waitUntil(() => alive(seconds).join() === `${owner.pid}`, 30_000)).toBe(true)
    expect(readStatus(owner.pid ?? 0)).toMatch(/^State:\s+T/m)
  } finally {
    owner.kill('SIGKILL')
    await ended
  }
}, 40_000)

it('ends when it is killed from outside, and reports it', async () => {
  const seconds = mark()
  const box = await startSandbox(created.driver, created.makeWorkspace('killed'))
  const running = expect(box.shell(`sleep ${seconds}`)).rejects.toThrow(
    'the sandbox ended while a command ran in it',
  )
  await waitUntil(() => alive(seconds).length === 1, 5_000)
  const holder = processIds().find(
    promises.driver === 'bubblewrap'
      ? pid =>
          readStatus(pid).includes(`PPid:\t${process.pid}\n`) && readStatus(pid).startsWith('Name:\tbwrap\n')
      : pid =>
          readStatus(pid).includes('NSpid:') &&
          /NSpid:.*\t1\n/.test(readStatus(pid)) &&
          sees(pid, box.sandbox.workspace),
  )
  expect(holder).toBeGreaterThan(1)
  signalProcess(holder ?? process.pid, 'SIGKILL')
  await running
  await box.sandbox.ended
  expect(await waitUntil(() => alive(seconds).length === 0, 5_000)).toBe(true)
})

function sees(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(`${folder} `)
  } catch {
    return false
  }
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

it('runs twenty sandboxes at once, each with its own workspace, processes and temporary files', async () => {
  const boxes = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      startSandbox(created.driver, created.makeWorkspace(`many-${index}`)),
    ),
  )
  const responses = await Promise.all(
    boxes.map((box, index) =>
      box.shell(
        `echo ${index} >/tmp/mine; echo ${index} >mine; sleep 0.1; cat /tmp/mine mine; ls -A /tmp | wc -l`,
      ),
    ),
  )
  expect(responses.map(response => response.text)).toEqual(boxes.map((_, index) => `${index}\n${index}\n1\n`))
  await Promise.all(boxes.map(box => box.sandbox.stop()))
})

it('keeps what an earlier sandbox of the run wrote into the workspace, and nothing else', async () => {
  const workspace = created.makeWorkspace('again')
  const first = await startSandbox(created.driver, workspace)
  await first.shell('echo kept >file; echo gone >/tmp/file; echo gone >~/file')
  await first.sandbox.stop()
  await using second = await startSandbox(created.driver, workspace)
  expect((await second.shell('cat file; ls -A /tmp ~')).text).toBe('kept\n/home/agent:\n\n/tmp:\n')
})

it('keeps a given home folder too, and git uses our settings and those of the agent', async () => {
  const workspace = created.makeWorkspace('with-home')
  const home = created.makeWorkspace('home')
  await using first = await startSandbox(created.driver, workspace, { home })
  await first.shell('echo kept >~/file; git config --global user.email own@example.org')
  await first.sandbox.stop()
  await using second = await startSandbox(created.driver, workspace, { home })
  expect((await second.shell('cat ~/file; git config user.name; git config user.email')).text).toBe(
    'kept\nAgent\nown@example.org\n',
  )
})

it('refuses a workspace that is missing, a file or a link', async () => {
  const file = join(created.folder, 'file')
  const link = join(created.folder, 'link')
  writeFileSync(file, '')
  symlinkSync(created.makeWorkspace('target'), link)
  for (const workspace of [join(created.folder, 'missing'), file, link]) {
    await expect(created.driver.start({ workspace, read_only: [], limits }), workspace).rejects.toThrow(
      SandboxError,
    )
  }
})

it('reports in one line why a sandbox cannot be started, and leaves nothing behind', async () => {
  const workspace = created.makeWorkspace('unstartable')
  const starting = created.driver.start({
    workspace,
    read_only: [{ host: '/no/such/folder', inside: '/x' }],
    limits,
  })
  await expect(starting).rejects.toThrow(/^[^\n]*\/no\/such\/folder[^\n]*$/)
  expect(pipeFolders()).toEqual([])
})

it('proves by the self-test that this machine isolates, and leaves nothing behind', async () => {
  expect(await created.driver.selfTest()).toEqual({ ok: true })
  expect(readdirSync(join(created.folder, 'runtime')).filter(name => name.startsWith('self-test'))).toEqual(
    [],
  )
})

const forBubblewrap = promises.driver === 'bubblewrap' ? it : noTest
forBubblewrap('fails the self-test with a reason where the sandbox user cannot pass', async () => {
  const closed = join(created.folder, 'closed')
  mkdirSync(closed, { mode: 0 })
  const driver = createBubblewrapDriver({
    user: sandbox_user,
    path,
    node_path: process.execPath,
    runtime_dir: join(closed, 'runtime'),
  })
  expect(await driver.selfTest()).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/^[^\n]*pass through every folder[^\n]*$/),
  })
  chmodSync(closed, 0o700)
})

it('never runs agents as root', async () => {
  const driver = plainDriver(join(created.folder, 'runtime'), null)
  const as_root = { ok: false, reason: expect.stringContaining('unprivileged user') }
  expect(await driver.selfTest()).toEqual(process.getuid?.() === 0 ? as_root : { ok: true })
})

it('finds bubblewrap in the default folders, then in those of PATH, and never in a relative folder', () => {
  const folder = join(created.folder, 'programs')
  mkdirSync(folder)
  writeFileSync(join(folder, 'bwrap'), '')
  const own = join(folder, 'bwrap')
  expect(findBubblewrap(['/no/such/bwrap', '/bin/sh'], folder)).toBe('/bin/sh')
  expect(findBubblewrap(['/no/such/bwrap'], `:.:/no/such:/bin/sh:${folder}`)).toBe(own)
  expect(findBubblewrap(['/no/such/bwrap'], `${relative(process.cwd(), folder)}:`)).toBeUndefined()
})

it.each([
  ['may not be executed', 'check the permissions', '#!/bin/sh\n', 0o644],
  [
    'names an interpreter that is not there',
    'reinstall the package "bubblewrap"',
    '#!/no/such/program\n',
    0o755,
  ],
  ['is of another kind of machine', 'reinstall the package "bubblewrap"', '\x7fELF\n(', 0o755],
])('reports in one line the fix for a bubblewrap that %s', async (name, remedy, content, mode) => {
  const program = join(created.folder, name.replaceAll(' ', '-'))
  writeFileSync(program, content, { mode })
  const child = spawn(program, { env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.on('error', error => {
    complaint = error.message
  })
  child.stderr?.on('data', chunk => {
    complaint += chunk
  })
  await new Promise(resolve => child.once('close', resolve))
  expect(explainFailure(complaint)).toMatch(/^bubblewrap [^\n]+$/)
  expect(explainFailure(complaint)).toContain(remedy)
})
