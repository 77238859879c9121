import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outgoing } from '../../src/egress/connect-checked.ts'
import { post } from '../../src/egress/post.ts'
import { serveSecure } from '../egress/servers.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startReceiver, type WebhookResponse } from './receiver.ts'

const stack: AsyncDisposable[] = []
afterEach(async () => {
  for (const item of stack.splice(0)) await item[Symbol.asyncDispose]()
})
async function receiverOf(...responses: WebhookResponse[]) {
  const receiver = await startReceiver(...responses)
  stack.push(receiver)
  return receiver
}

const allowing: Outgoing = { resolve: async () => ['127.0.0.1'], allow_private: true, upstream: null }
const send = (url: string, outgoing: Partial<Outgoing> = {}, signal = new AbortController().signal) =>
  post(
    { ...allowing, ...outgoing },
    { url, headers: { 'content-type': 'application/json' }, body: '{"a":1}', signal },
  )

describe('F120 an address that is not public', () => {
  const addresses = [
    ...[
      '127.0.0.1',
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...[
      '::1',
      '::',
      'fd00::1',
      'fe80::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      'fd00:ec2::254',
    ],
  ]
  test.each(addresses)(
    '%s is refused literally, and as the address of a name, and nothing connects',
    async address => {
      const receiver = await receiverOf()
      const port = new URL(receiver.url).port
      const literal = address.includes(':') ? `[${address}]` : address
      for (const [url, resolve] of [
        [`http://${literal}:${port}/`, async () => Promise.reject(new Error('asked'))],
        [`http://hooks.example.com:${port}/`, async () => [address]],
        [`http://hooks.example.com:${port}/`, async () => ['93.184.215.14', address]],
      ] as const) {
        const outcome = await send(url, { allow_private: false, resolve: resolve as Outgoing['resolve'] })
        expect(outcome).toMatchObject({
          status: null,
          refused: true,
          error: expect.stringMatching(/^address not allowed: /),
        })
      }
      expect(receiver.received).toEqual([])
    },
  )

  test.each([
    '0x7f000001',
    '2130706433',
    '127.1',
    '0177.0.0.1',
    'localhost',
    'x.localhost',
    'db.internal',
    'printer.local',
  ])('%s is refused in that writing too', async host => {
    const receiver = await receiverOf()
    const outcome = await send(`http://${host}:${new URL(receiver.url).port}/`, { allow_private: false })
    expect(outcome).toMatchObject({ status: null, refused: true })
    expect(receiver.received).toEqual([])
  })

  test('where the operator allows private ones, those of clouds’ metadata are still refused', async () => {
    for (const address of ['169.254.169.254', '100.100.100.200', 'fd00:ec2::254', '0.0.0.0'])
      expect(await send('http://hooks.example.com/', { resolve: async () => [address] })).toMatchObject({
        status: null,
        refused: true,
      })
  })

  test('a name is resolved once: a later change has no effect', async () => {
    const receiver = await receiverOf()
    let requested = 0
    const resolve = async () => [requested++ === 0 ? '127.0.0.1' : '127.0.0.2']
    const outcome = await send(`http://hooks.example.com:${new URL(receiver.url).port}/x?y=1`, { resolve })
    expect(outcome).toMatchObject({ status: 204, error: null })
    expect(requested).toBe(1)
    expect(receiver.received).toMatchObject([{ path: '/x?y=1', body: '{"a":1}' }])
    expect(receiver.received[0]?.headers.host).toMatch(/^hooks\.example\.com:\d+$/)
  })

  test('a redirect is not followed, wherever it leads, and not taken for a delivery', async () => {
    const inner = await receiverOf()
    for (const status of [301, 302, 303, 307, 308]) {
      const outer = await receiverOf((_request, response) =>
        response.writeHead(status, { location: inner.url }).end(),
      )
      expect(await send(outer.url)).toMatchObject({
        status,
        error: `it responded with ${status}: redirects are not followed`,
      })
    }
    expect(inner.received).toEqual([])
  })
})

/** A server that does what it likes with each connection. */
async function rawServer(serve: Parameters<typeof createServer>[1] & object): Promise<string> {
  const server: Server = createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', socket => sockets.add(socket))
  stack.push({
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`
}

describe('F122 a receiver that', () => {
  test('responds with a gigabyte: its status counts, 64 KiB are read, and the connection is closed', async () => {
    let sent = 0
    const closed = Promise.withResolvers<void>()
    const url = await rawServer(socket => {
      socket.on('error', () => {})
      socket.on('close', () => closed.resolve())
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1024 ** 3}\r\n\r\n`)
        const piece = Buffer.alloc(16_384, 'x')
        const more = () => {
          while (!socket.destroyed && sent < 1024 ** 3 && socket.write(piece)) sent += piece.length
        }
        socket.on('drain', more)
        more()
      })
    })
    const outcome = await send(url)
    expect(outcome).toMatchObject({ status: 200, error: null, answer: 'x'.repeat(1_000) })
    await closed.promise
    // What the kernel takes on both sides, and no more.
    expect(sent).toBeLessThan(32 * 1024 ** 2)
  })

  test('gives a status and then a byte now and then: it counts, and is not waited for', async () => {
    const url = await rawServer(socket => {
      socket.on('error', () => {})
      const timer = setInterval(() => socket.write('x'), 200)
      socket.on('close', () => clearInterval(timer))
      socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 100000\r\n\r\n')
    })
    expect(await send(url)).toMatchObject({ status: 202, error: null })
  })

  test('never responds, or sends its head a byte at a time, or too much head: it has ten seconds at most, and no status', async () => {
    const silent = await rawServer(socket => void socket.on('error', () => {}))
    const slow = await rawServer(socket => {
      socket.on('error', () => {})
      const timer = setInterval(() => socket.write('H'), 1_000)
      socket.on('close', () => clearInterval(timer))
    })
    const flood = await rawServer(socket => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(`x-${Math.random()}: ${'y'.repeat(8_000)}\r\n`));
      }
      socket.on('drain', more)
      more()
    })
    const outcomes = await Promise.all([silent, slow, flood].map(url => send(url)))
    expect(outcomes.map(({ status, refused }) => ({ status, refused }))).toEqual(
      Array(3).fill({ status: null, refused: false }),
    )
    expect(outcomes[0]?.error).toBe('no response within 10 seconds')
    expect(outcomes[2]?.error).toMatch(/HPE_|HEADER/)
  }, 30_000)

  test('does not use HTTP, disconnects, or is unreachable', async () => {
    const other = await rawServer(socket => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9\r\n'))
    const hang_up = await rawServer(
      socket => void socket.on('error', () => {}).once('data', () => socket.destroy()),
    )
    const gone = new URL(await rawServer(() => {}))
    await stack.pop()?.[Symbol.asyncDispose]()
    for (const url of [other, hang_up, gone.href])
      expect(await send(url)).toMatchObject({
        status: null,
        refused: false,
        error: expect.stringMatching(/./),
      })
  })

  test('has an untrusted certificate, or none: it gets nothing', async () => {
    const received: string[] = []
    const secure = await serveSecure((request, response) => {
      received.push(request.url ?? '')
      response.end()
    })
    stack.push(secure)
    expect(await send(`https://a.example:${secure.port}/`)).toMatchObject({
      status: null,
      error: expect.stringMatching(/SELF_SIGNED|CERT/),
    })
    const plain = await receiverOf()
    expect(await send(plain.url.replace('http:', 'https:'))).toMatchObject({
      status: null,
      error: expect.stringMatching(/./),
    })
    expect([received, plain.received]).toEqual([[], []])
  })

  test('has a certificate that the operator trusts by NODE_EXTRA_CA_CERTS: it gets it by its own name, and by no other', async () => {
    const received: string[] = []
    const secure = await serveSecure((request, response) => {
      received.push(`${request.method} ${request.headers.host} ${request.url}`)
      response.writeHead(204).end()
    })
    stack.push(secure)
    using folder = temporaryFolder()
    const file = join(folder.path, 'ca.pem')
    writeFileSync(file, secure.certificate)
    // Node reads the variable once, when it starts.
    const script = `import { post } from ${JSON.stringify(new URL('../../src/egress/post.ts', import.meta.url).href)}
      const outgoing = { resolve: async () => ['127.0.0.1'], allow_private: true, upstream: null }
      const send = host => post(outgoing, { url: \`https://\${host}:${secure.port}/hook\`, headers: {}, body: '{}', signal: new AbortController().signal })
      console.log(JSON.stringify(await Promise.all(['a.example', 'b.example'].map(send))))`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        env: { NODE_EXTRA_CA_CERTS: file, NODE_NO_WARNINGS: '1' },
      },
    )
    expect(JSON.parse(stdout)).toMatchObject([
      { status: 204, error: null },
      { status: null, error: expect.stringContaining('ALTNAME_INVALID') },
    ])
    expect(received).toEqual([`POST a.example:${secure.port} /hook`])
  })

  test('requests a delay: in seconds, as in the header', async () => {
    const receiver = await receiverOf((_request, response) =>
      response.writeHead(429, { 'retry-after': '90' }).end('slow down'),
    )
    expect(await send(receiver.url)).toMatchObject({ status: 429, retry_after: 90, answer: 'slow down' })
  })

  test('responds with text that a database cannot store: it is stored with replacements', async () => {
    const receiver = await receiverOf((_request, response) =>
      response.end(Buffer.from('a\0b\xff\ud83d', 'latin1')),
    )
    const { answer: result } = await send(receiver.url)
    expect(result?.isWellFormed()).toBe(true)
    expect(result).not.toContain('\0')
  })
})

test('a stopped request ends immediately, and reports it', async () => {
  const url = await rawServer(socket => void socket.on('error', () => {}))
  const abort = new AbortController()
  const sent = send(url, {}, abort.signal)
  const { port } = new URL(url)
  // It exists: this connection is behind the one that was opened before it.
  await once(connect(Number(port), '127.0.0.1'), 'connect')
  abort.abort()
  expect(await sent).toMatchObject({ status: null, error: 'the service stopped before there was a response' })
})

test('by the operator’s proxy the name is the proxy’s to resolve, and the message goes through the tunnel', async () => {
  const receiver = await receiverOf()
  const requested: string[] = []
  const proxy = await rawServer(socket => {
    socket.on('error', () => {})
    socket.once('data', head => {
      requested.push(head.toString().split('\r\n')[0] ?? '')
      const inner = connect(Number(new URL(receiver.url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(inner).pipe(socket)
      })
      inner.on('error', () => {})
    })
  })
  const upstream = new URL(proxy)
  const outcome = await send('http://hooks.example.com/x', {
    upstream,
    allow_private: false,
    resolve: async () => Promise.reject(new Error('no')),
  })
  expect(outcome).toMatchObject({ status: 204 })
  expect(requested).toEqual(['CONNECT hooks.example.com:80 HTTP/1.1'])
  expect(receiver.received).toMatchObject([{ path: '/x', headers: { host: 'hooks.example.com' } }])
})
