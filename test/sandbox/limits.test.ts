import { afterAll, beforeAll, expect, it } from 'vitest'
import { waitUntil } from '../../src/system/processes.ts'
import { makeDriver, promises, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
let box: TestSandbox

beforeAll(async () => {
  box = await startSandbox(created.driver, created.makeWorkspace('limits'))
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  await created[Symbol.asyncDispose]()
})

/** Names of the programs inside, process 1 and what belongs to a waiting shell left out. */
const programs = () => programsIn("grep -v '^Z'")
/** Those that have ended and that process 1 has not collected yet. */
const uncollected = () => programsIn("grep '^Z'")

async function programsIn(filter: string): Promise<string[]> {
  const { text } = await box.separate(`ps -eo stat=,args= | ${filter}`)
  const own = /(\/(run\/init|opt\/agentrun)\/bash|bash --noprofile --norc|ps -eo|grep )/
  return text
    .trim()
    .split('\n')
    .filter(line => line && !own.test(line))
    .map(line => line.trim().replace(/^\S+ +/, ''))
}

it('B47: kills a command at its time-out with all that it started, even processes that ignore signals or became daemons', async () => {
  const command = `trap '' TERM INT HUP; (setsid sleep 1001 &); sleep 1002 & bash -c 'trap "" TERM; sleep 1003'; echo after`
  await box.shell(':')
  const result = await box.shell(`echo before; ${command}`, { timeout_ms: 1_000 })
  expect(result).toMatchObject({
    status: 'timeout',
    exit_code: null,
    text: 'before\n',
    shell_restarted: true,
  })
  expect(await programs()).toEqual([])
  expect(await waitUntil(async () => (await uncollected()).length === 0, 10_000)).toBe(true)
  expect(await box.shell('pwd')).toMatchObject({ text: '/workspace\n', shell_restarted: false })
})

it('leaves running, at a time-out, what an earlier command left in the background', async () => {
  await box.shell('sleep 1004 & (setsid sleep 1005 &)')
  await waitUntil(async () => (await programs()).length === 2, 5_000)
  await box.separate('sleep 1')
  await box.shell('sleep 1006', { timeout_ms: 200 })
  // A process that was killed is listed until the kernel has ended it.
  await expect.poll(async () => (await programs()).sort()).toEqual(['sleep 1004', 'sleep 1005'])
  await box.shell('pkill sleep')
})

it('kills a separate command at its time-out and leaves the shell and its commands alone', async () => {
  await box.shell('kept=1')
  const in_shell = box.shell('sleep 0.5; echo $kept')
  expect(await box.separate('(setsid sleep 1007 &); sleep 1008', { timeout_ms: 200 })).toMatchObject({
    status: 'timeout',
    shell_restarted: false,
  })
  expect(await in_shell).toMatchObject({ text: '1\n', exit_code: 0, shell_restarted: false })
  await expect.poll(programs).toEqual([])
})

it.each(['shell', 'separate'] as const)('kills a %s command when it is aborted', async kind => {
  const abort = new AbortController()
  const running = box[kind]('echo started; sleep 1009', {
    signal: abort.signal,
    on_output: () => abort.abort(),
  })
  expect(await running).toMatchObject({
    status: 'interrupted',
    exit_code: null,
    text: 'started\n',
    shell_restarted: kind === 'shell',
  })
  await expect.poll(programs).toEqual([])
})

it('never runs a command that was aborted before', async () => {
  expect(await box.shell('touch ran', { signal: AbortSignal.abort() })).toMatchObject({
    status: 'interrupted',
  })
  expect((await box.separate('ls ran')).exit_code).toBe(2)
})

it('B46: ends a command when its shell ends, even if a process holds its output open', async () => {
  expect(await box.shell('sleep 1010 & echo done')).toMatchObject({
    status: 'exited',
    exit_code: 0,
    text: 'done\n',
  })
  expect(await box.separate('sleep 1011 & echo done')).toMatchObject({
    status: 'exited',
    exit_code: 0,
    text: 'done\n',
  })
  expect((await box.shell('jobs')).text).toContain('sleep 1010')
  await box.shell('pkill sleep')
})

it('keeps what the background writes out of later commands, and lets it write on', async () => {
  await box.shell('(while [[ ! -e stop ]]; do echo noise; sleep 0.01; done; echo ended >noise-ended) &')
  for (let round = 0; round < 10; round++)
    expect((await box.shell('sleep 0.02; echo mine')).text).toBe('mine\n')
  expect((await box.separate('touch stop; echo separate')).text).toBe('separate\n')
  expect(await waitUntil(async () => (await box.separate('cat noise-ended')).text === 'ended\n', 5_000)).toBe(
    true,
  )
})

it('B44: stops a flood of 1 GiB early, keeps its head and tail, and does not grow', async () => {
  const before = process.memoryUsage().rss
  let peak = before
  const result = await box.shell('echo first; yes | head -c 1G', {
    max_output_bytes: 1_000,
    on_output: () => {
      peak = Math.max(peak, process.memoryUsage().rss)
    },
  })
  expect(result).toMatchObject({ status: 'output_limit', exit_code: null, truncated: true })
  expect(result.text.slice(0, 10)).toBe('first\ny\ny\n')
  expect(result.text.length).toBe(1_000)
  expect(result.output_bytes).toBeLessThan(64 * 1024 * 1024)
  expect(Math.max(peak, process.memoryUsage().rss) - before).toBeLessThan(64 * 1024 * 1024)
  expect(await box.shell('echo alive')).toMatchObject({ text: 'alive\n' })
})

it('B45: hands output over byte by byte, binary, NUL and escapes included', async () => {
  const { output } = await box.sandbox.exec({
    command: String.raw`printf '\033]52;c;AAAA\007\000\377\r\n'; head -c 3000 /dev/urandom | tee random`,
    shell: 'persistent',
    timeout_ms: 5_000,
    max_output_bytes: 10_000,
  })
  const { output: random } = await box.sandbox.exec({
    command: 'cat random',
    shell: 'separate',
    timeout_ms: 5_000,
    max_output_bytes: 10_000,
  })
  expect(Buffer.from(output)).toEqual(
    Buffer.concat([Buffer.from('\x1b]52;c;AAAA\x07\0\xff\r\n', 'latin1'), Buffer.from(random)]),
  )
  expect(random.length).toBe(3_000)
})

it('runs commands of any length, and refuses one with a NUL byte without running the part before it', async () => {
  const filler = ': '.padEnd(300_000, 'x')
  for (const kind of ['shell', 'separate'] as const) {
    expect(await box[kind](`${filler}\necho $((6 * 7)) done`)).toMatchObject({ text: '42 done\n' })
    expect(await box[kind]('touch half\0echo')).toMatchObject({ status: 'exited', exit_code: 126 })
  }
  expect((await box.separate('ls half')).exit_code).toBe(2)
})

it('A27, A31: holds the limits for processes and for the size of a file', async () => {
  const fork = `perl -e 'my $n = 0; while ($n < 1000) { my $p = fork; last unless defined $p; if (!$p) { sleep 5; exit } $n++ } print $n'; pkill -9 perl`
  const forked = Number((await box.shell(fork)).text)
  expect(forked).toBeGreaterThan(100)
  expect(forked).toBeLessThan(promises.mostProcesses(128))
  await using small = await startSandbox(created.driver, created.makeWorkspace('small'), {
    limits: { max_file_bytes: 1_000_000, max_tmp_bytes: 2_000_000 },
  })
  expect(
    (await small.shell('head -c 3M /dev/zero >big; stat -c %s big; truncate -s 1T sparse; stat -c %s sparse'))
      .text,
  ).toMatch(/999424\n[\s\S]*\b0\n/)
  expect(
    (
      await small.shell(
        'for i in 1 2 3 4; do head -c 900k /dev/zero >/tmp/$i || break; done 2>&1; du -s /tmp | cut -f1',
      )
    ).text,
  ).toMatch(/No space left[\s\S]*\n19\d\d\n/)
  expect((await small.shell('head -c 200M /dev/zero 2>&1 >/dev/shm/f; du -s /dev/shm')).text).toMatch(
    /File too large|File size limit|No space/,
  )
})

it('A29: ends a process that wants more memory than it may have', async () => {
  await using small = await startSandbox(created.driver, created.makeWorkspace('memory'), {
    limits: { max_process_bytes: 256 * 1024 * 1024 },
  })
  expect((await small.shell(`perl -e 'my $a = "x" x (1 << 30); print "got it"' 2>&1`)).text).toMatch(
    /Out of memory/,
  )
})
