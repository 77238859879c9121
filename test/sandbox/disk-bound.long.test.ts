import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { WorkspaceSize } from '../../src/sandbox/port.ts'
import { watchWorkspace } from '../../src/sandbox/resources/workspace-watch.ts'
import { makeDriver, startSandbox } from './start-sandbox.ts'

const mebibyte = 1024 ** 2
const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())

test('B41: a workspace that grows beyond its bytes has everything in it killed, and can be emptied; another one does not notice', async () => {
  const limits = { max_disk_bytes: 200 * mebibyte }
  await using box = await startSandbox(created.driver, created.makeWorkspace('bytes'), { limits })
  await using beside = await startSandbox(created.driver, created.makeWorkspace('bytes-beside'), { limits })
  const kept = beside.shell('head -c 50M /dev/zero >some; for i in {1..20}; do sleep 0.1; done; echo kept', {
    timeout_ms: 60_000,
  })
  const fill = 'for i in {1..1000}; do head -c 10M /dev/zero >"f$i"; sync "f$i"; done'
  const result = await box.shell(fill, { timeout_ms: 60_000 })
  expect(result).toMatchObject({ status: 'disk_limit', exit_code: null, shell_restarted: true })
  expect(result.size?.bytes).toBeGreaterThan(200 * mebibyte)
  expect(Number((await box.separate('du -sm . | cut -f1')).text)).toBeLessThan(2_000)
  expect(await kept).toMatchObject({ status: 'exited', text: 'kept\n' })
  expect(await box.shell('rm -f f*; echo empty')).toMatchObject({ status: 'exited', text: 'empty\n' })
  expect(await box.shell('head -c 50M /dev/zero >again; sleep 1; echo written')).toMatchObject({
    text: 'written\n',
  })
}, 90_000)

test('B41: what is in a home folder that stays counts too', async () => {
  const home = created.makeWorkspace('home')
  await using box = await startSandbox(created.driver, created.makeWorkspace('bytes-home'), {
    home,
    limits: { max_disk_bytes: 50 * mebibyte },
  })
  const fill = 'for i in {1..1000}; do head -c 10M /dev/zero >~/f$i; sync ~/f$i; done'
  expect(await box.shell(fill, { timeout_ms: 60_000 })).toMatchObject({ status: 'disk_limit' })
}, 90_000)

test('B42: the same for the number of files, also of what was left in the background', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('files'), {
    limits: { max_files: 5_000 },
  })
  await box.shell(`(setsid perl -e 'while (1) { open(my $f, ">", "z" . $n++) or die; close $f }' &)`)
  const result = await box.separate('sleep 100', { timeout_ms: 90_000 })
  expect(result).toMatchObject({ status: 'disk_limit', exit_code: null })
  expect(result.size?.files).toBeGreaterThan(5_000)
  // A killed process stays visible until it has left its system call. It runs nothing from the signal on,
  // which /proc shows as pending.
  const not_killed = 'for p in $(pgrep perl); do grep -s "^ShdPnd:.*[02468ace]..$" "/proc/$p/status"; done'
  expect((await box.separate(not_killed)).text).toBe('')
}, 120_000)

const write = (target: string) =>
  `for i in {1..200}; do head -c 10M /dev/zero >${target}; sync ${target.replace('&', '/proc/self/fd/')}; done`
const mapped = `import mmap, os, time
f = open('m', 'w+b'); f.truncate(900 << 20); m = mmap.mmap(f.fileno(), 900 << 20); f.close(); os.unlink('m')
for i in range(90): m[i * (10 << 20):(i + 1) * (10 << 20)] = b'x' * (10 << 20); m.flush(); time.sleep(0.1)`

const sent = `import os, socket, time
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for i in range(90):
  f = os.open('s', os.O_CREAT | os.O_RDWR); os.unlink('s'); os.write(f, b'x' * (10 << 20)); os.fsync(f)
  socket.send_fds(a, [b'f'], [f]); os.close(f); time.sleep(0.1)`

test.each([
  ['B142: in files that wait in a socket, where no process has them', `python3 -c "${sent}"`],
  ['B142: in a folder that it has closed to itself', `mkdir closed; cd closed; chmod 300 .; ${write('f$i')}`],
  ['B142: in a file that no longer has a name', `exec 5>f; rm f; ${write('&5')}`],
  [
    'B142: in one that is held by a program which nobody may look into',
    `cp /usr/bin/sleep s; chmod 111 s; exec 5>f; rm f; ./s 1000 & ${write('&5')}`,
  ],
  ...(process.getuid?.() === 0
    ? [['B142: in one that is mapped and nothing else', `python3 -c "${mapped}"`]]
    : []),
])(
  '%s what it writes counts too',
  async (name, command = '') => {
    await using box = await startSandbox(created.driver, created.makeWorkspace(name.replace(/\W/g, '')), {
      limits: { max_disk_bytes: 100 * mebibyte },
    })
    expect(await box.shell(command, { timeout_ms: 60_000 })).toMatchObject({ status: 'disk_limit' })
    // So that a user other than root can remove it.
    await box.separate('chmod -R u+rwx .')
  },
  90_000,
)

test('B142: a folder that cannot be counted in time is taken for what is gone from the disk', async () => {
  const path = created.makeWorkspace('uncountable')
  const { promise, resolve } = Promise.withResolvers<WorkspaceSize>()
  const watch = watchWorkspace(
    path,
    { max_disk_bytes: 50 * mebibyte, max_files: 1_000 },
    async () => null,
    () => null,
    resolve,
  )
  for (let n = 0; n < 20; n++) {
    writeFileSync(join(path, String(n)), Buffer.alloc(10 * mebibyte), { flush: true })
    await setTimeout(50)
  }
  expect((await promise).bytes).toBeGreaterThan(50 * mebibyte)
  watch.end()
})
