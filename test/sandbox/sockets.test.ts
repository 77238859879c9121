import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SandboxError } from '../../src/sandbox/port.ts'
import { waitUntil } from '../../src/system/processes.ts'
import { makeDriver, noTest, promises, startSandbox, type TestSandbox } from './start-sandbox.ts'

const created = makeDriver()
const sockets = join(created.folder, 'sockets')
let server: Server
let box: TestSandbox
const run = async (command: string) => (await box.shell(command)).text

beforeAll(async () => {
  mkdirSync(sockets)
  const path = join(sockets, 'hello.sock')
  server = createServer({ allowHalfOpen: true }, socket => {
    let received = ''
    socket.on('data', chunk => {
      received += chunk
    })
    socket.on('end', () => socket.end(`heard ${received}\n${'x'.repeat(3_000_000)}\nend\n`))
  }).listen(path)
  await once(server, 'listening')
  chmodSync(sockets, 0o711)
  chmodSync(path, 0o666)
  box = await startSandbox(created.driver, created.makeWorkspace('sockets'), {
    sockets: [{ host: path, inside: '/run/hello.sock', port: 3128 }],
    environment: { HELLO: "it's\nhere", PATH: '/nowhere' },
  })
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  server.close()
  await created[Symbol.asyncDispose]()
})

const over = (target: string) =>
  `node -e 'const s = require("net").connect(${target}); let n = ""; s.on("data", d => n += d); s.on("end", () => console.log(n.slice(0, 12), n.length, n.slice(-4))); s.end("me")'`

it('a socket of the host is shown by its name and by a port of the own loopback, whole and with each end closed for itself', async () => {
  const response = 'heard me\nxxx 3000014 end\n\n'
  expect(await run(over('"/run/hello.sock"'))).toBe(response)
  expect(await run(over('3128, "127.0.0.1"'))).toBe(response)
  expect(await run('ls /run')).toBe('exec\nhello.sock\ninit\n')
})

it('a listener inside cannot be killed by other processes, or is restarted', async () => {
  if (promises.driver === 'bubblewrap') expect(await run('grep -l init/listen /proc/[0-9]*/cmdline')).toBe('')
  await run('kill -9 -1')
  // A container has a process for it, which process 1 restarts.
  const isReachable = async () => (await run(over('3128, "127.0.0.1"'))).includes('heard me')
  expect(promises.driver === 'bubblewrap' ? await isReachable() : await waitUntil(isReachable, 10_000)).toBe(
    true,
  )
  expect(await run('ls -l /proc/self/fd | grep -c socket')).toBe('0\n')
})

it('E92: what one sandbox keeps on its way between sockets keeps no other from its ports', async () => {
  await using hostile = await startSandbox(created.driver, created.makeWorkspace('hostile'))
  const { text } = await hostile.shell(`cat >/tmp/hold.py <<"P"
import array, socket, time
fds = array.array("i", [open("/dev/null").fileno()] * 200)
pairs, full = [], False
while not full:
  pair = socket.socketpair(); pair[0].setblocking(False); pairs.append(pair)
  try:
    while True: pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
  except BlockingIOError: pass
  except OSError as error: full = True; print(error.errno, flush=True)
time.sleep(60)
P
python3 /tmp/hold.py >/tmp/said & until grep . /tmp/said; do sleep 0.05; done`)
  // ETOOMANYREFS: the kernel takes no more from this user.
  expect(text).toContain('109')
  await using beside = await startSandbox(created.driver, created.makeWorkspace('beside'), {
    sockets: [{ host: join(sockets, 'hello.sock'), inside: '/run/hello.sock', port: 3128 }],
  })
  expect((await beside.shell(over('3128, "127.0.0.1"'))).text).toContain('heard me')
  expect((await beside.shell('ulimit -Hn; ulimit -n')).text).toBe('4096\n4096\n')
})

const forBubblewrap = promises.driver === 'bubblewrap' ? it : noTest
forBubblewrap('of itself a sandbox starts one process for each port, and two for its shell', async () => {
  // Inside, processes and threads are numbered in the order of their start.
  const idOfShell = async (name: string, ports: number[]) => {
    const shown = ports.map(port => ({
      host: join(sockets, 'hello.sock'),
      inside: `/run/hello-${port}.sock`,
      port,
    }))
    await using fresh = await startSandbox(created.driver, created.makeWorkspace(name), { sockets: shown })
    return (await fresh.shell('echo $$')).text
  }
  expect([await idOfShell('no-port', []), await idOfShell('two-ports', [3128, 3129])]).toEqual(['3\n', '5\n'])
})

it('variables are given to every command, and those that every sandbox has win', async () => {
  expect(await run('echo "$HELLO"; echo $PATH')).toBe(
    "it's\nhere\n/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/home/agent/.local/bin\n",
  )
  expect((await box.separate('echo "$HELLO"')).text).toBe("it's\nhere\n")
})

it.each(['A=B', '', '1X', 'A B', 'X\0Y'])('no variable is called %j', async name => {
  const workspace = created.makeWorkspace(`named-${Buffer.from(name).toString('hex')}`)
  await expect(startSandbox(created.driver, workspace, { environment: { [name]: 'x' } })).rejects.toThrow(
    SandboxError,
  )
})

it('a sandbox without sockets has none, and no listener', async () => {
  await using plain = await startSandbox(created.driver, created.makeWorkspace('plain'))
  expect((await plain.shell('ls /run; (exec 3<>/dev/tcp/127.0.0.1/3128) 2>&1')).text).toMatch(
    /^exec\ninit\n.*Connection refused/,
  )
})

it('a port that cannot be opened ends the sandbox', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('refused'), {
    sockets: [{ host: join(sockets, 'hello.sock'), inside: '/run/hello.sock', port: 80 }],
  })
  await expect(box.shell('true')).rejects.toThrow('the ports of the sandbox could not be opened')
  await box.sandbox.ended
})
