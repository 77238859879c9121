import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  absent_calls,
  first_unknown_call,
  forbidden_calls,
  refused_requests,
} from '../../src/sandbox/seccomp/seccomp-syscalls.ts'
import { isAlive } from '../../src/system/processes.ts'
import { makeDriver, noTest, promises, startSandbox, type TestSandbox } from './start-sandbox.ts'

const secret = `canary-${process.pid}`
const created = makeDriver()
const mirror = join(created.folder, 'mirror')
const canary = join(created.folder, 'canary')
const victim = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' })
let server: Server
let port: number
let box: TestSandbox
/** Output of a command of the shell. */
const run = async (command: string) => (await box.shell(command)).text

beforeAll(async () => {
  process.env.SANDBOX_TEST_SECRET = secret
  writeFileSync(canary, secret)
  mkdirSync(mirror)
  writeFileSync(join(mirror, 'seen'), 'shown')
  server = createServer(socket => socket.end(secret)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
  box = await startSandbox(created.driver, created.makeWorkspace('isolation'), {
    read_only: [{ host: mirror, inside: '/mirror' }],
  })
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  server.close()
  victim.kill('SIGKILL')
  await created[Symbol.asyncDispose]()
})

it('A01–A04: shows a root of its own, not the files of the host', async () => {
  expect(await run(`cat ${canary} /root/.npmrc /etc/shadow 2>&1 | grep -vc 'No such file'`)).toBe('0\n')
  const kernel = promises.sys === 'none' ? '' : 'sys\n'
  const var_tmp = promises.driver === 'podman' ? 'var\n' : ''
  // An image has settings of its own there.
  if (!promises.own_root)
    expect(await run('find /usr/etc /usr/local/etc -mindepth 1 2>&1')).toMatch(
      /^(find: [^\n]*No such file or directory\n)*$/,
    )
  expect(await run('ls /')).toBe(
    `bin\ndev\netc\nhome\nlib\nlib64\nmirror\nopt\nproc\nrun\nsbin\n${kernel}tmp\nusr\n${var_tmp}workspace\n`,
  )
  const podman = '/sys:\nfs\n\n/sys/fs:\ncgroup\n\n/sys/fs/cgroup:\n'
  if (promises.sys !== 'read-only')
    expect(await run('ls -A /sys /sys/fs /sys/fs/cgroup 2>/dev/null')).toBe(
      promises.driver === 'podman' ? podman : kernel && '/sys:\n',
    )
  const own = promises.own_root ? 'agentrun\n' : ''
  expect(await run('ls /home /run /opt; wc -l </etc/passwd')).toBe(
    `/home:\nagent\n\n/opt:\n${own}node\n\n/run:\nexec\ninit\n3\n`,
  )
})

it('A05–A07: knows nothing of our environment and of host paths on command lines', async () => {
  const environments = await run(String.raw`cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n'; env`)
  expect(environments).not.toContain(secret)
  const names = new Set(
    environments.split('\n').flatMap(line => (line.includes('=') ? [line.slice(0, line.indexOf('='))] : [])),
  )
  const of_npm = ['npm_config_prefix', 'npm_package_config_node_gyp_nodedir']
  const known = [
    ...'GIT_CONFIG_SYSTEM GIT_TERMINAL_PROMPT HOME LANG LOGNAME LSAN_OPTIONS OLDPWD PAGER PATH PWD SHELL SHLVL TERM USER _'.split(
      ' ',
    ),
    ...of_npm,
  ]
  expect([...names].filter(name => !known.includes(name))).toEqual([])
  expect(await run('cat /proc/1/environ 2>&1')).toContain('Permission denied')
  expect(await run('cat /proc/[0-9]*/cmdline')).not.toContain(created.folder)
})

it('A08, A09: sees and can signal its own processes only', async () => {
  const processes = (await run('echo /proc/[0-9]*')).trim().split(' ')
  expect(processes.length).toBeLessThan(6)
  await run('kill -9 -1')
  expect(isAlive(victim.pid ?? 0)).toBe(true)
})

it('A10, A11: finds no way out by process 1 and inherits no descriptor of ours', async () => {
  expect(await run('ls /proc/1/root/ /proc/1/cwd/ /proc/1/fd 2>&1 | grep -c "Permission denied"')).toBe('3\n')
  for (const descriptors of [
    await run('ls -l /proc/self/fd'),
    (await box.separate('ls -l /proc/self/fd')).text,
  ]) {
    const targets = [...descriptors.matchAll(/ (\d+) -> (.*)/g)].map(
      ([, number, target]) => `${number} ${target}`,
    )
    expect(targets).toEqual([
      '0 /dev/null',
      expect.stringMatching(/^1 \/run\/exec\/\d+\.output$/),
      expect.stringMatching(/^2 \/run\/exec\/\d+\.output$/),
      expect.stringMatching(/^3 \/proc\/\d+\/fd$/),
    ])
  }
})

it('A12–A14: writes to its workspace, home and temporary folders only, and creates no device', async () => {
  // /dev of a container, and /run of Podman's, is root's, and no process inside is root.
  const closed =
    promises.driver === 'bubblewrap'
      ? 'Read-only file system'
      : 'Read-only file system|/(dev|run)/x.*Permission denied'
  const targets = [
    '/usr/bin/x',
    '/etc/x',
    '/x',
    '/dev/x',
    '/run/x',
    '/run/exec/x',
    '/run/init/x',
    '/mirror/x',
    '/opt/node/bin/x',
  ]
  expect(await run(`for f in ${targets.join(' ')}; do touch $f 2>&1; done | grep -cE '${closed}'`)).toBe(
    `${targets.length}\n`,
  )
  expect(await run('for d in /workspace /home/agent /tmp /dev/shm; do touch $d/x && echo ok; done')).toBe(
    'ok\nok\nok\nok\n',
  )
  await run(`ln -s ${created.folder} outside; echo pwned >outside/canary`)
  expect(readFileSync(canary, 'utf8')).toBe(secret)
  expect(await run('mknod d b 254 0 2>&1; mknod c c 1 3 2>&1; ls d c 2>/dev/null')).not.toMatch(/^[dc]$/m)
})

it('A15: refuses mounts, namespaces and chroot', async () => {
  const commands = [
    'mount -t tmpfs x /tmp',
    'unshare -Ur id',
    'unshare -m true',
    'unshare -n true',
    'nsenter -t 1 -m true',
    'chroot / true',
  ]
  for (const command of commands)
    expect(await run(`${command} 2>&1; echo code $?`), command).toMatch(/code [1-9]/)
})

it('A16, A17: has no capability and gains none by set-user-id programs', async () => {
  const status = await run("grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status")
  expect(status.replace(/\t/g, ' ')).toBe(
    `${['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(name => `${name}: 0000000000000000\n`).join('')}NoNewPrivs: 1\nSeccomp: 2\n`,
  )
  // Engines take no such option for what they show of the host: there it is NoNewPrivs alone.
  if (promises.driver === 'bubblewrap') expect(await run('grep -v nosuid /proc/self/mountinfo')).toBe('')
  expect(await run('su -c id 2>&1')).not.toContain('uid=0')
})

it('A18: rejects dangerous system calls with an error', async () => {
  const calls = Object.values({
    ...forbidden_calls,
    ...absent_calls,
    unknown: { x64: first_unknown_call, arm64: first_unknown_call },
  })
  const numbers = calls.flatMap(call => call[process.arch as 'x64' | 'arm64'] ?? [])
  const responses = await run(
    `perl -e 'for (@ARGV) { my $r = syscall($_, 0, 0, 0, 0, 0, 0); print "$_ $r ", $! + 0, "\\n" }' ${numbers.join(' ')}`,
  )
  const expected = numbers.map(number => expect.stringMatching(new RegExp(`^${number} -1 (1|38)$`)))
  expect(responses.trim().split('\n')).toEqual(expected)
})

it('A18: has no second table of system calls (x32)', async () => {
  // On x64 the kernel kills by SIGSYS; arm64 has no such table, and the call does not exist.
  const { text } = await box.shell(`perl -e 'print syscall(0x40000000 + 39)'; echo " code $?"`)
  expect(text).toContain(process.arch === 'x64' ? ' code 159\n' : '-1 code 0\n')
})

it('A19, A20: opens no socket of another family and no raw one', async () => {
  const perl = `perl -MSocket -e 'for (@ARGV) { my ($f, $t, $p) = split /:/; print socket(my $s, $f, $t, $p // 0) ? "$_ open\\n" : "$_ refused\\n" }'`
  const refused = [
    '40:1',
    '17:3',
    '38:5',
    '31:1',
    '44:3',
    '29:3',
    '9:5',
    '3:5',
    '2:3',
    '10:3',
    '2:1:132',
    '2:1:262',
    '2:2:136',
    '10:2:115',
  ]
  expect(await run(`${perl} ${refused.join(' ')}`)).toBe(refused.map(pair => `${pair} refused\n`).join(''))
  expect(await run(`${perl} 1:1 2:1 2:2 10:1 16:3 2:1:6 10:2:17`)).not.toContain('refused')
  const pair = `perl -MSocket -e 'for (@ARGV) { my ($f, $t) = split /:/; print socketpair(my $a, my $b, $f, $t, 0) ? "$_ open\\n" : "$_ " . ($! + 0) . "\\n" }'`
  // EAFNOSUPPORT is our filter's, EPERM Docker's and ENOSYS Podman's; the kernel's own for families without
  // pairs would be another one.
  const families = ['30:1', '30:2', '30:5', '2:1', '10:2', '16:3', '31:5', '40:1']
  const responses = (await run(`${pair} ${families.join(' ')}`)).trim().split('\n')
  expect(responses).toEqual(
    families.map(family => expect.stringMatching(new RegExp(`^${family} (97|1|38)$`))),
  )
  expect(await run(`${pair} 1:1 1:2 1:5`)).toBe('1:1 open\n1:2 open\n1:5 open\n')
})

it('A21–A26: reaches no service of the host, no abstract socket, no network and no resolver', async () => {
  expect(
    await run(
      `curl -sS -m 3 http://127.0.0.1:${port}/ 2>&1; (exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>&1`,
    ),
  ).not.toContain(secret)
  const name = `agentrun-test-${process.pid}`
  const abstract = createServer(socket => socket.end(secret)).listen(`\0${name}`)
  await once(abstract, 'listening')
  const connect = `perl -MSocket -e 'socket(my $s, 1, 1, 0); print connect($s, pack("S a*", 1, "\\0${name}")) ? "connected" : "refused"'`
  expect(await run(connect)).toBe('refused')
  abstract.close()
  if (!promises.network)
    expect(await run('tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route')).toMatch(
      /^\s*lo\n$/,
    )
  const unreached = "(Couldn't connect|Failed to connect|timed out)"
  expect(
    await run(
      'for a in 169.254.169.254 192.0.2.2; do curl -sS -m 2 http://$a/ 2>&1; done; getent hosts example.com || echo no name',
    ),
  ).toMatch(new RegExp(`${unreached}.*\\n.*${unreached}.*\\nno name`))
})

it('A28, A32–A34: cannot raise its limits, write to the kernel, type into a terminal or find cgroups', async () => {
  const raise = 'ulimit -u unlimited; ulimit -c unlimited; ulimit -n 999999; nice -n -10 true'
  expect(await run(`{ ${raise}; } 2>/dev/null; ulimit -Hc; ulimit -Hn`)).toBe('0\n4096\n')
  // A container has its number of processes from the engine.
  if (promises.driver === 'bubblewrap')
    expect(await run(`{ ${raise}; } 2>/dev/null; ulimit -Hu`)).toBe('128\n')
  const writes = [
    '/proc/sysrq-trigger',
    '/proc/sys/kernel/core_pattern',
    '/proc/sys/vm/drop_caches',
    '/proc/1/oom_score_adj',
    '/proc/1/mem',
  ]
  for (const file of writes)
    expect(await run(`(echo 0 >${file}) 2>&1; echo code $?`), file).toContain('code 1')
  expect(await run('hostname x 2>&1; date -s 2001-01-01 2>&1 >/dev/null; hostname')).toMatch(/sandbox\n$/)
  expect(
    await run(
      `perl -e 'my $c = "x"; print ioctl(STDIN, 0x5412, $c) ? "typed" : "refused"'; [[ -e /dev/tty ]] && (: </dev/tty) 2>&1`,
    ),
  ).toMatch(/^refused/)
  if (promises.sys === 'read-only')
    expect(
      await run(
        'for f in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $f/own 2>&1; done | grep -vE "Read-only file system|Permission denied"',
      ),
    ).toBe('')
  else expect(await run('ls -A /sys/fs/cgroup 2>&1')).toMatch(/^(ls: [^\n]*No such file or directory\n)?$/)
  // Below the empty /sys of a container the engine has mounted some, which are not reachable.
  if (promises.driver === 'bubblewrap') expect(await run('grep cgroup /proc/self/mounts')).toBe('')
})

it('A140: cannot turn a switch of the kernel, also not one of its own namespaces', async () => {
  expect(await run('find /proc/sys -type f -writable')).toBe('')
  for (const name of ['shmmax', 'shmall', 'msgmnb', 'sem']) {
    const file = `/proc/sys/kernel/${name}`
    expect(await run(`was=$(cat ${file}); (echo "$was" >${file}) 2>&1; echo code $?`), file).toContain(
      'code 1',
    )
  }
  // A container's processes are ended first because its engine, which is root, reports it.
  if (promises.driver === 'bubblewrap')
    expect(await run('(echo 0 >/proc/self/oom_score_adj) 2>&1')).toContain('Read-only file system')
})

it('A145: gives a terminal of its own no other line discipline, and creates no volume of the file system', async () => {
  const requests = Object.values(refused_requests).join(' ')
  const try_ioctls = `perl -MFcntl -e 'open(my $f, "+<", "/dev/ptmx") or die $!; for (@ARGV) { my $n = pack("i", 21); print ioctl($f, $_, $n) ? "taken " : ($!{EPERM} || $!{ENOSYS}) ? "refused " : "$! " }' ${requests}`
  expect(await run(try_ioctls)).toBe('refused '.repeat(Object.keys(refused_requests).length))
})

it('shows the given folders read-only, and its own Node first on the path', async () => {
  expect(await run('cat /mirror/seen')).toBe('shown')
  expect(await run('command -v node; node -p "1 + 1"')).toBe('/opt/node/bin/node\n2\n')
})

const onProgramsOfHost = promises.own_root ? noTest : it.runIf(existsSync('/usr/bin/java'))
onProgramsOfHost('lets the Java of the host work', async () => {
  const program =
    'public class A { public static void main(String[] a) { System.out.println(java.security.Security.getProviders().length > 0); } }'
  expect(await run(`cat >A.java <<<'${program}'; java -Xmx256m A.java`)).toBe('true\n')
})

it('lets git work in any folder with an identity from the environment', async () => {
  const commit =
    'git init -q repo && cd repo && GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b git commit -q --allow-empty -m one'
  expect(
    await run(
      `${commit} && git log --format=%an%s; git config --global user.name kept && git config user.name; git branch --show-current; cd ..`,
    ),
  ).toBe('aone\nkept\nmain\n')
})

it('C55: cannot link files of the host into the workspace', async () => {
  expect(await run('ln /usr/bin/id hard 2>&1')).toMatch(/Invalid cross-device link|Operation not permitted/)
})

it('A36: leaves a process of the host alone through all of the above', () => {
  expect(isAlive(victim.pid ?? 0)).toBe(true)
  rmSync(canary)
})
