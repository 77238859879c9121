import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, it } from 'vitest'
import { fetchByRules } from '../../src/egress/fetch.ts'
import { createProxy } from '../../src/egress/proxy.ts'
import { default_caps, type ProxyConfiguration, type Refusal } from '../../src/egress/proxy-configuration.ts'
import { listen, serveSecure, type TestServer } from './servers.ts'

const HOSTS = ['a.example', 'b.example']

/** Rules that allow both hosts on a port until they are revoked. */
function startRules(port: number, upstream: URL | null = null) {
  const refusals: Refusal[] = []
  const rules = HOSTS.map(host => ({ host, port }))
  const configuration: ProxyConfiguration = {
    rules: async () => rules,
    resolve: async () => ['127.0.0.1'],
    allow_private: true,
    upstream,
    gateway: null,
    caps: default_caps,
    onRequestText() {},
    onRefused: refusal => refusals.push(refusal),
  }
  return {
    configuration,
    refusals,
    revoke: (host: string) => rules.splice(0, 2, ...rules.filter(rule => rule.host !== host)),
  }
}

/** The proxy on a port of its own. `send` opens a connection to it, and sends a text. */
async function startProxy(port: number, upstream: URL | null = null) {
  const { configuration, refusals, revoke } = startRules(port, upstream)
  const proxy = createProxy(configuration)
  await once(proxy.server.listen(0, '127.0.0.1'), 'listening')
  return {
    refusals,
    async revoke(host: string) {
      revoke(host)
      await proxy.recheck()
    },
    send(text: string): Socket {
      const socket = connect((proxy.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
      socket.write(text)
      return socket
    },
    [Symbol.asyncDispose]: async () => proxy.close(),
  }
}

/**
 * A server that responds with `text` to the first data of a connection, and no more. `opened` resolves with
 * each connection in its order.
 */
async function serveText(text: string): Promise<TestServer & { opened(): Promise<Socket> }> {
  const waiting: Socket[] = []
  let wake = () => {}
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      if (text !== '') socket.write(text)
      waiting.push(socket.resume())
      wake()
    })
  })
  return {
    ...(await listen(server, '127.0.0.1', 0)),
    async opened() {
      while (waiting.length === 0) await new Promise<void>(resolve => (wake = resolve))
      return waiting.shift() ?? expect.unreachable()
    },
  }
}

const closed = (socket: Socket) =>
  new Promise<void>(resolve => (socket.closed ? resolve() : socket.once('close', () => resolve())))
const head = (host: string, port: number, more = '') =>
  `http://${host}:${port}/ HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const BEGUN = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun'

it.each([
  ['a response in progress', BEGUN, 'GET', ''],
  ['a response whose first byte is not there', '', 'GET', ''],
  ['a response whose head is not whole', 'HTTP/1.1 200 OK\r\nContent-Le', 'GET', ''],
  ['a body that is being sent', '', 'POST', 'Content-Length: 1000\r\n'],
  ['a body without a length', '', 'PUT', 'Transfer-Encoding: chunked\r\n'],
  ['a body that is being sent while the response is received', BEGUN, 'POST', 'Content-Length: 1000\r\n'],
  ['a request to change the protocol', '', 'GET', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
  [
    'a body that the server has allowed to be sent',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'POST',
    'Expect: 100-continue\r\nContent-Length: 9\r\n',
  ],
])(
  'a plain request that is no longer allowed ends on both sides, one to another host continues: %s',
  async (_, text, method, more) => {
    await using server = await serveText(text)
    await using proxy = await startProxy(server.port)
    const client = proxy.send(`${method} ${head('a.example', server.port, more)}`)
    if (method !== 'GET') client.write(more.includes('chunked') ? '5\r\nfirst\r\n' : 'first')
    const far = await server.opened()
    const kept = proxy.send(`GET ${head('b.example', server.port)}`)
    const far_kept = await server.opened()
    await proxy.revoke('a.example')
    client.resume()
    await Promise.all([closed(far), closed(client)])
    await proxy.revoke('a.example')
    expect([kept.closed, far_kept.closed]).toEqual([false, false])
    expect(proxy.refusals).toMatchObject([
      { host: 'a.example', port: server.port, method, reason: 'not_allowed' },
    ])
  },
)

it('a request that waits for its response is refused with the reason', async () => {
  await using server = await serveText('')
  await using proxy = await startProxy(server.port)
  const client = proxy.send(`GET ${head('a.example', server.port)}`)
  await server.opened()
  await proxy.revoke('a.example')
  const chunks = await client.toArray()
  expect(Buffer.concat(chunks).toString()).toMatch(
    /^HTTP\/1\.1 403 .*the address is no longer allowed: no rule allows a\.example/s,
  )
})

it('of requests on one connection, those behind another one end too', async () => {
  await using server = await serveText(BEGUN)
  await using proxy = await startProxy(server.port)
  const client = proxy.send(`GET ${head('b.example', server.port)}GET ${head('a.example', server.port)}`)
  const opened = [await server.opened(), await server.opened()]
  await proxy.revoke('a.example')
  await Promise.race(opened.map(closed))
  expect(opened.filter(socket => socket.closed)).toHaveLength(1)
  expect(client.closed).toBe(false)
})

it('a plain request ends that goes by the proxy of the operator', async () => {
  await using upstream = await serveText(BEGUN)
  await using proxy = await startProxy(80, new URL(`http://127.0.0.1:${upstream.port}`))
  const client = proxy.send(`GET ${head('a.example', 80)}`)
  const far = await upstream.opened()
  await proxy.revoke('a.example')
  await Promise.all([closed(far), closed(client.resume())])
})

it.each(['before its greeting', 'when it is joined'])(
  'a tunnel that is no longer allowed is closed on both sides: %s',
  async phase => {
    await using server = await serveSecure((_, response) => response.write('begun'))
    await using proxy = await startProxy(server.port)
    const client = proxy.send(`CONNECT a.example:${server.port} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(client, 'data')
    if (phase === 'when it is joined') {
      const inner = connectTls({ socket: client, servername: 'a.example', ca: server.certificate })
      inner.on('error', () => {})
      inner.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
      await once(inner, 'data')
    } else client.resume()
    await proxy.revoke('a.example')
    await closed(client)
    expect(proxy.refusals).toMatchObject([{ host: 'a.example', method: 'CONNECT', reason: 'not_allowed' }])
  },
)

/** A request that the service sends for a run. */
function startFetch(port: number) {
  const { configuration, refusals, revoke } = startRules(port)
  const { fetch, recheck } = fetchByRules(configuration)
  return {
    fetch,
    refusals,
    async revoke(host: string) {
      revoke(host)
      await recheck()
    },
  }
}

const refusal = { message: expect.stringContaining('no longer allowed: no rule allows a.example') }

it('a stream of a request for a run ends when it is no longer allowed, one from another host continues', async () => {
  await using server = await serveText(BEGUN)
  const { fetch, refusals, revoke } = startFetch(server.port)
  const open = async (host: string) =>
    (await fetch(`http://${host}:${server.port}/`)).body?.getReader() ?? expect.unreachable()
  const stream = await open('a.example')
  const far = await server.opened()
  const kept = await open('b.example')
  const far_kept = await server.opened()
  expect(Buffer.from((await stream.read()).value ?? []).toString()).toBe('begun')
  const next = expect(stream.read()).rejects.toMatchObject(refusal)
  await revoke('a.example')
  await Promise.all([next, closed(far)])
  expect(far_kept.closed).toBe(false)
  expect(refusals).toMatchObject([
    { host: 'a.example', port: server.port, method: 'GET', reason: 'not_allowed' },
  ])
  await kept.cancel()
})

it.each(['http', 'https'])('a request for a run ends that waits: %s', async scheme => {
  // With https it waits for the handshake.
  await using server = await serveText('')
  const { fetch, revoke } = startFetch(server.port)
  const response = expect(
    fetch(`${scheme}://a.example:${server.port}/`, { method: 'POST', body: 'sent' }),
  ).rejects.toMatchObject({
    cause: refusal,
  })
  const far = await server.opened()
  await revoke('a.example')
  await Promise.all([response, closed(far)])
})

it('what has ended is not checked', async () => {
  await using server = await serveText('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  const { fetch, refusals, revoke } = startFetch(server.port)
  expect(await (await fetch(`http://a.example:${server.port}/`)).text()).toBe('ok')
  await closed(await server.opened())
  await revoke('a.example')
  expect(refusals).toEqual([])
})
