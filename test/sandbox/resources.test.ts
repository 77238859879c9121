import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { createBubblewrapDriver } from '../../src/sandbox/bubblewrap/bubblewrap.ts'
import { ownGroups } from '../../src/sandbox/resources/cgroup-paths.ts'
import { detectResources } from '../../src/sandbox/resources/detect.ts'
import { waitUntil } from '../../src/system/processes.ts'
import { lockMachine } from './lock-machine.ts'
import { limits, makeDriver, noTest, path, promises, sandbox_user, startSandbox } from './start-sandbox.ts'

const mebibyte = 1024 ** 2
const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())

/** As on a machine without control groups: everything else is real. */
const without = detectResources(() => '')
const bare = createBubblewrapDriver({
  user: sandbox_user,
  path,
  node_path: process.execPath,
  runtime_dir: `${created.folder}/runtime-bare`,
  resources: without,
})
const here = { means: created.driver.means() }
const is_container = promises.driver !== 'bubblewrap'
const forBubblewrap = is_container ? noTest : test
const drivers = [
  {
    by: `what this machine has (${Object.values(here.means).join(', ')})`,
    driver: created.driver,
    name: 'own',
  },
  ...(is_container ? [] : [{ by: 'watchdog', driver: bare, name: 'bare' }]),
]

/**
 * Four processes that each want 300 MiB and hold them, none of them more than one process may have; until one
 * is left.
 */
const hungry = `for i in 1 2 3 4; do perl -e 'my $a = "x" x (300 << 20); sleep 1000' & done
while (($(jobs -r | wc -l) > 1)); do sleep 0.05; done; kill %1 %2 %3 %4 2>/dev/null`

test.each(drivers)(
  'B39: limits the memory of all processes together, by $by, and reports it',
  async ({ driver, name }) => {
    const small = { max_memory_bytes: 400 * mebibyte }
    await using box = await startSandbox(driver, created.makeWorkspace(`sum-${name}`), { limits: small })
    await using beside = await startSandbox(driver, created.makeWorkspace(`beside-${name}`), {
      limits: small,
    })
    const kept = beside.shell(`perl -e 'my $a = "x" x (100 << 20); sleep 2; print length $a'`, {
      timeout_ms: 60_000,
    })
    const result = await box.shell(hungry, { timeout_ms: 60_000 })
    expect(result.memory_kills).toBeGreaterThanOrEqual(3)
    const { peak_memory_bytes, memory_kills } = box.sandbox.usage()
    expect(memory_kills).toBe(result.memory_kills)
    expect(peak_memory_bytes).toBeGreaterThan(200 * mebibyte)
    expect(await kept).toMatchObject({ text: String(100 << 20), memory_kills: 0 })
    // The shell's report about a killed job may come with the next command.
    expect(await box.shell('echo alive')).toMatchObject({
      text: expect.stringMatching(/^alive\n$/m),
      memory_kills: 0,
    })
  },
  90_000,
)

/** Its process has hardly any memory of its own. */
const memfd = `perl -e 'my $name = "x"; my $fd = syscall(${process.arch === 'arm64' ? 279 : 319}, $name, 0); open(my $f, "+<&=", $fd) or die;
for (1 .. 800) { syswrite $f, "x" x (1 << 20); select undef, undef, undef, 0.005 } sleep 1000' 2>/dev/null & wait $!; echo $?`

forBubblewrap(
  'B39: the watchdog counts files in memory that have no name',
  async () => {
    await using box = await startSandbox(bare, created.makeWorkspace('memfd'), {
      limits: { max_memory_bytes: 300 * mebibyte },
    })
    const result = await box.shell(memfd, { timeout_ms: 60_000 })
    expect(result).toMatchObject({
      status: 'exited',
      text: expect.stringMatching(/\n137\n$/),
      memory_kills: 1,
    })
    expect(await box.shell('echo alive')).toMatchObject({ text: 'alive\n', memory_kills: 0 })
  },
  90_000,
)

const sent = `import os, socket, time
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for i in range(80):
  f = os.memfd_create('s'); os.write(f, b'x' * (10 << 20)); socket.send_fds(a, [b'f'], [f]); os.close(f); time.sleep(0.05)
time.sleep(1000)`

forBubblewrap(
  'B39: the watchdog counts files in memory that wait in a socket, where no process has them',
  async () => {
    await using box = await startSandbox(bare, created.makeWorkspace('sent'), {
      limits: { max_memory_bytes: 300 * mebibyte },
    })
    const result = await box.shell(`python3 -c "${sent}" & wait $!; echo $?`, { timeout_ms: 60_000 })
    expect(result).toMatchObject({
      status: 'exited',
      text: expect.stringMatching(/\n137\n$/),
      memory_kills: 1,
    })
    expect(await box.shell('echo alive')).toMatchObject({ text: 'alive\n', memory_kills: 0 })
  },
  90_000,
)

test.runIf(here.means.memory !== 'watchdog')(
  'memory that the kernel counts never goes beyond the bound, files in /tmp included',
  async () => {
    await using box = await startSandbox(created.driver, created.makeWorkspace('tmp'), {
      limits: { max_memory_bytes: 128 * mebibyte, max_tmp_bytes: 32 * mebibyte },
    })
    expect(
      (await box.shell('head -c 400M /dev/zero >/tmp/big; head -c 400M /dev/zero >big; stat -c %s big')).text,
    ).toMatch(/419430400\n$/)
    expect(box.sandbox.usage().peak_memory_bytes).toBeLessThanOrEqual(128 * mebibyte)
  },
)

/**
 * Connections to itself, each filled until nothing more goes in. What it holds then, by the kernel's own
 * count, is in pages.
 */
const fill = `perl -MSocket -e 'socket(my $l, 2, 1, 0); bind($l, pack_sockaddr_in(0, "\\x7f\\0\\0\\x01")); listen($l, 1000); my $to = getsockname($l);
for (1 .. 400) { socket(my $c, 2, 1, 0); connect($c, $to) or last; accept(my $a, $l) or last; push @all, $c, $a; $c->blocking(0); 1 while syswrite($c, "x" x 65536) }
open(my $f, "<", "/proc/net/sockstat"); print grep /^TCP/, <$f>' -MIO::Handle`

// Of a pod the host sees no groups: there its node must have version 2.
const onVisibleGroups =
  promises.driver === 'kubernetes' ? noTest : test.runIf(here.means.memory !== 'watchdog')
onVisibleGroups(
  'A146: holds what waits in sockets, which the machine has so much of for everybody',
  async () => {
    await using _lock = await lockMachine('memory of sockets')
    await using box = await startSandbox(created.driver, created.makeWorkspace('sockets'), {
      limits: { max_memory_bytes: 256 * mebibyte },
    })
    const pages = () => Number(/^TCP:.* mem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1])
    const before = pages()
    const { text } = await box.shell(fill, { timeout_ms: 60_000 })
    const held = Number(/ mem (\d+)/.exec(text)?.[1]) - before
    expect(held).toBeGreaterThan(1_000)
    expect(held * 4_096).toBeLessThan(384 * mebibyte)
  },
)

test.runIf(here.means.cpu !== 'niceness')(
  'B40: holds the processors that a sandbox may keep busy',
  async () => {
    await using box = await startSandbox(created.driver, created.makeWorkspace('busy'), {
      limits: { cpus: 0.2 },
    })
    const before = box.sandbox.usage().cpu_ms ?? Number.NaN
    const { duration_ms } = await box.shell(
      'for i in 1 2 3; do (while :; do :; done) & done; sleep 2; kill %1 %2 %3',
    )
    const busy = ((box.sandbox.usage().cpu_ms ?? Number.NaN) - before) / duration_ms
    // Three loops want three processors; by periods of 100 ms it may be a little more than a fifth of one.
    expect(busy).toBeGreaterThan(0.02)
    expect(busy).toBeLessThan(0.4)
  },
)

test('B37: two sandboxes that fork at once have a budget of processes each', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('forks'), {
    limits: { max_processes: 30 },
  })
  await using beside = await startSandbox(created.driver, created.makeWorkspace('forks-beside'), {
    limits: { max_processes: 30 },
  })
  const fork = `perl -e 'my $n = 0; while ($n < 200) { my $p = fork; last unless defined $p; if (!$p) { sleep 3; exit } $n++ } print $n'`
  const [one, two] = await Promise.all([box.shell(fork), beside.shell(fork)])
  for (const { text } of [one, two]) {
    expect(Number(text)).toBeGreaterThan(15)
    expect(Number(text)).toBeLessThanOrEqual(promises.mostProcesses(30))
  }
})

const onVersion1 = is_container ? noTest : test.runIf(here.means.memory === 'cgroup v1')
onVersion1(
  'A34: a group is gone when its sandbox has ended, and those of dead processes at the next start, with whatever is left in them',
  async () => {
    const folder =
      ownGroups(
        readFileSync('/proc/self/cgroup', 'utf8'),
        readFileSync('/proc/self/mountinfo', 'utf8'),
      ).v1.get('memory') ?? ''
    const own = () => readdirSync(folder).filter(name => name.startsWith(`agentrun-${process.pid}-`))
    const before = own().length
    const box = await startSandbox(created.driver, created.makeWorkspace('gone'))
    expect(own().length).toBe(before + 1)
    await box[Symbol.asyncDispose]()
    expect(await waitUntil(() => own().length === before, 5_000)).toBe(true)
    const dead = `agentrun-${process.pid}-1-7`
    mkdirSync(`${folder}/${dead}`)
    const left = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' })
    writeFileSync(`${folder}/${dead}/cgroup.procs`, String(left.pid))
    detectResources()
    expect(await once(left, 'exit')).toEqual([null, 'SIGKILL'])
    expect(await waitUntil(() => !readdirSync(folder).includes(dead), 5_000)).toBe(true)
  },
)

forBubblewrap('a sandbox whose bounds cannot be set does not start, and leaves nothing behind', async () => {
  const broken = createBubblewrapDriver({
    user: sandbox_user,
    path,
    node_path: process.execPath,
    runtime_dir: `${created.folder}/runtime-broken`,
    resources: {
      means: without.means,
      open() {
        throw new Error('no space for groups')
      },
    },
  })
  const spec = { workspace: created.makeWorkspace('unbounded'), read_only: [], limits }
  await expect(broken.start(spec)).rejects.toThrow(
    'the limits of a sandbox cannot be set: no space for groups',
  )
})
