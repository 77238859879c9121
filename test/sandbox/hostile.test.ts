import { afterAll, expect, it } from 'vitest'
import { SandboxLostError } from '../../src/sandbox/port.ts'
import { inspected_calls } from '../../src/sandbox/seccomp/seccomp-syscalls.ts'
import { waitUntil } from '../../src/system/processes.ts'
import { makeDriver, promises, startSandbox } from './start-sandbox.ts'

const created = makeDriver()
const start = (name: string) => startSandbox(created.driver, created.makeWorkspace(name))

afterAll(() => created[Symbol.asyncDispose]())

it('A09: survives kill -9 -1 from inside, from the shell and from a separate command', async () => {
  await using box = await start('kill-all')
  const from_shell = await box.shell(
    `sleep 1000 & perl -e 'kill 9, -1'; perl -e 'kill 9, getppid'; echo survived`,
  )
  expect(from_shell).toMatchObject({ status: 'exited', exit_code: 137, shell_restarted: true })
  expect(await box.separate(`perl -e 'kill 9, -1'; kill -9 $PPID`)).toMatchObject({
    status: 'exited',
    exit_code: 137,
  })
  expect(await box.shell('echo back')).toMatchObject({ text: 'back\n', exit_code: 0, shell_restarted: false })
})

it('keeps process 1 alive under every signal from inside', async () => {
  await using box = await start('signals')
  await box.shell('for signal in {1..64}; do kill -$signal 1; done')
  expect(await box.separate('echo alive')).toMatchObject({ text: 'alive\n' })
})

it('A139: keeps process 1 alive when a process inside sets limits for it', async () => {
  await using box = await start('limits-of-1')
  const number = inspected_calls.prlimit64[process.arch as 'x64' | 'arm64']
  // No processor time, no files, no processes: 0, 7, 6.
  const set = `perl -e 'for (@ARGV) { my $none = pack("QQ", 0, 0); print syscall(${number}, 1, $_, $none, 0), " " }' 0 7 6`
  expect(await box.shell(set)).toMatchObject({ text: '-1 -1 -1 ' })
  expect(
    await box.separate('for i in 1 2 3; do sleep 0.1; done; echo alive; ulimit -Sn 100; ulimit -n'),
  ).toMatchObject({
    text: 'alive\n100\n',
  })
})

it('A143: takes none of the machine’s contexts of asynchronous input and output, and leaves others signals that wait', async () => {
  await using box = await start('takes-all')
  const [io_setup, queue] = process.arch === 'arm64' ? [0, 138] : [206, 129]
  expect(
    await box.shell(
      `perl -e 'my $context = pack("Q", 0); print syscall(${io_setup}, 65536, $context), " ", $! + 0'`,
    ),
  ).toMatchObject({
    text: '-1 38',
  })
  // To all containers the kernel counts as to one user.
  if (promises.driver !== 'bubblewrap') return
  const fill = `perl -MPOSIX=:signal_h -e '$| = 1; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(34)); my $signal = pack("iiix116", 34, 0, -1); my $n = 0; $n++ while syscall(${queue}, $$ + 0, 34, $signal) == 0; print $n, "\n"; sleep shift'`
  await using beside = await start('beside')
  const took = Promise.withResolvers<string>()
  const holding = box.separate(`${fill} 1000`, {
    on_output: bytes => took.resolve(Buffer.from(bytes).toString()),
    timeout_ms: 60_000,
  })
  expect(Number(await took.promise)).toBe(2_048)
  expect(Number((await beside.separate(`${fill} 0`)).text)).toBe(2_048)
  await box.shell('pkill perl')
  await holding
})

it('keeps the shell when only its keeper was killed, and notices when that shell ends too', async () => {
  await using box = await start('keeper')
  for (const kill of ['kill -9 $PPID', 'kill -9 -1']) {
    await box.shell(`kept=1; ${kill}`)
    for (let n = 0; n < 20; n++)
      expect(await box.shell(`echo "[$kept]"`)).toMatchObject({
        text: '[1]\n',
        exit_code: 0,
        shell_restarted: false,
      })
  }
  expect(await box.shell('exit 7', { timeout_ms: 60_000 })).toMatchObject({
    status: 'exited',
    exit_code: 137,
    shell_restarted: true,
  })
  expect(await box.shell('echo "[$kept]"')).toMatchObject({ text: '[]\n', exit_code: 0 })
})

it('passes descriptor 9, which signals the end of the shell, to no process that a command starts', async () => {
  await using box = await start('descriptor')
  expect(await box.shell('ls /proc/self/fd; (exec 9>&1) ; exec 9>/dev/null; ls /proc/self/fd')).toMatchObject(
    { exit_code: 0 },
  )
  expect((await box.shell('ls /proc/self/fd')).text).toBe('0\n1\n2\n3\n')
  await box.shell('sleep 1000 &')
  expect(await box.shell('exec perl -e "kill 9, getppid; kill 9, $$"', { timeout_ms: 60_000 })).toMatchObject(
    {
      status: 'exited',
      exit_code: 137,
      shell_restarted: true,
    },
  )
})

it('believes no forged response longer than the forger lives, and never waits beyond the time-out', async () => {
  await using box = await start('forger')
  const words = `echo '1 0'; echo 'exit 0'; echo killed shell; head -c 100k /dev/zero`
  const forge = `for f in /run/exec/*.status; do timeout 0.3 bash -c "{ ${words}; } >$f" & done; wait`
  const forged = await box.shell(forge, { timeout_ms: 3_000 })
  expect(['exited', 'timeout']).toContain(forged.status)
  for (const run of [box.separate, box.shell]) {
    expect(
      await waitUntil(
        async () => (await run('echo right', { timeout_ms: 3_000 })).text === 'right\n',
        10_000,
      ),
    ).toBe(true)
  }
})

it('ends a command that stops its shell, replaces it, or reads its requests, at the time-out', async () => {
  await using box = await start('stopper')
  for (const command of [
    'kill -STOP $$',
    'exec sleep 1000',
    'set -n; sleep 1000',
    'kill -STOP $PPID; exit',
    'cat /run/exec/*.requests',
  ]) {
    expect(await box.shell(command, { timeout_ms: 300 }), command).toMatchObject({
      status: 'timeout',
      shell_restarted: true,
    })
    expect(await box.shell('echo next'), command).toMatchObject({ text: 'next\n' })
  }
})

it.each([
  'set -e; false',
  'set -eu; echo $missing',
  'exec 0<&- 1>&- 2>&-; exit 5',
  'exit 0',
  'kill -9 $$',
  'exec true',
])('continues after a shell that ended by itself: %s', async command => {
  await using box = await start(`ended-${Buffer.from(command).toString('hex')}`)
  expect(await box.shell(command)).toMatchObject({ status: 'exited', shell_restarted: true })
  expect(await box.shell('echo next')).toMatchObject({ text: 'next\n', exit_code: 0, shell_restarted: false })
})

it('lets the agent change options and functions of its shell without losing the result', async () => {
  await using box = await start('options')
  for (const command of [
    'set -euo pipefail',
    'set -C -f',
    'read() { :; }; echo() { :; }; eval() { :; }; printf() { :; }',
    'IFS=x',
    'exec 5>&1',
    'cd /; unset PATH',
    'trap "echo noise" DEBUG ERR',
    'break; continue; return 1 || :',
  ]) {
    expect(await box.shell(command), command).toMatchObject({ status: 'exited', shell_restarted: false })
  }
  expect(await box.shell('set +e; builtin echo still $PWD')).toMatchObject({ text: 'still /\n' })
})

it.each(['b() { b | b & }; b; sleep 1000', `perl -e 'fork while 1'`])(
  'B37: a fork bomb ends at its time-out, blocks no file access meanwhile, and stops no other sandbox: %s',
  async command => {
    await using bomb = await start(`bomb-${command.length}`)
    await using other = await start(`other-${command.length}`)
    const running = bomb.shell(command, { timeout_ms: 2_500 })
    expect(await bomb.separate('echo reachable')).toMatchObject({ text: 'reachable\n' })
    expect(await other.shell('for i in {1..20}; do sleep 0.2 & done; wait; echo all')).toMatchObject({
      text: 'all\n',
      exit_code: 0,
    })
    const { status, shell_restarted } = await running
    expect(promises.bomb_ends).toContain(status)
    expect(shell_restarted).toBe(true)
    expect(await bomb.shell('echo usable')).toMatchObject({ text: 'usable\n' })
  },
)

it('B37: a fork bomb left in the background ends at the time-out of the next command', async () => {
  await using box = await start('background-bomb')
  await box.shell(':() { : | : & }; :')
  await box.shell('for i in {1..50}; do sleep 0.1; done', { timeout_ms: 1_000 })
  expect(await box.shell('echo usable')).toMatchObject({ text: 'usable\n', exit_code: 0 })
})

it('rejects with SandboxLostError what runs, waits or comes when the sandbox has ended', async () => {
  const box = await start('lost')
  const running = box.shell('sleep 1000')
  const waiting = box.shell('echo never')
  const separate = box.separate('sleep 1000')
  const ended = [running, waiting, separate].map(result => expect(result).rejects.toThrow(SandboxLostError))
  await box.sandbox.stop()
  await Promise.all(ended)
  await expect(box.shell('echo late')).rejects.toThrow(SandboxLostError)
  await expect(box.sandbox.ended).resolves.toBeUndefined()
  await box.sandbox.stop()
})
