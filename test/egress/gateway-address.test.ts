import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createProxy } from '../../src/egress/proxy.ts'
import { default_caps, type Refusal } from '../../src/egress/proxy-configuration.ts'
import { testFolder } from '../temporary-folder.ts'
import { servePlain } from './servers.ts'

const ADDRESS = { host: '127.0.0.1', port: 3129 }

/** A gateway on a socket, and the proxy of its sandbox, whose egress is off. */
async function startBoth(knows_gateway = true) {
  const stack = new AsyncDisposableStack()
  const socket = join(testFolder(), 'models.sock')
  const gateway = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', chunk => chunks.push(chunk))
    incoming.on('end', () => {
      const { method, url, headers } = incoming
      response.end(
        JSON.stringify([method, url, headers.host, headers.authorization, Buffer.concat(chunks).length]),
      )
    })
  })
  await once(gateway.listen(socket), 'listening')
  stack.defer(() => void gateway.close())
  const refusals: Refusal[] = []
  const texts: string[] = []
  const proxy = createProxy({
    rules: async () => null,
    resolve: async () => ['127.0.0.1'],
    allow_private: true,
    upstream: null,
    gateway: knows_gateway ? { ...ADDRESS, socket } : null,
    caps: { ...default_caps, bytes: 1_000 },
    onRequestText: text => texts.push(text),
    onRefused: refusal => refusals.push(refusal),
  })
  stack.use({ [Symbol.asyncDispose]: async () => proxy.close() })
  await once(proxy.server.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.server.address() as AddressInfo
  return { port, proxy, refusals, texts, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const BODY = 'b'.repeat(5_000)
const sent = { method: 'POST', headers: { authorization: 'Bearer x', connection: 'close' } }

async function send(options: object, body: string | null): Promise<{ status: number; text: string }> {
  const outgoing = request(options)
  outgoing.end(body ?? undefined)
  const [response] = await once(outgoing, 'response')
  return { status: response.statusCode, text: (await response.setEncoding('utf8').toArray()).join('') }
}

/** Sends a request to `at` in absolute form. */
const sendPlain = (port: number, at: string) =>
  send({ ...sent, host: '127.0.0.1', port, path: `http://${at}/v1/x?y=1` }, BODY)

/** Opens a tunnel to `at`, and sends the same request in it. */
async function sendInTunnel(port: number, at: string): Promise<{ status: number; text: string }> {
  const opening = request({ host: '127.0.0.1', port, method: 'CONNECT', path: at })
  opening.end()
  const [response, socket] = await once(opening, 'connect')
  if (response.statusCode !== 200) {
    socket.destroy()
    return { status: response.statusCode, text: '' }
  }
  return send(
    { ...sent, createConnection: () => socket, path: '/v1/x?y=1', headers: { ...sent.headers, host: at } },
    BODY,
  )
}

const WAYS = [
  ['in absolute form', sendPlain],
  ['in a tunnel', sendInTunnel],
] as const

it.each(WAYS)(
  'the gateway of the sandbox is reached by the proxy too, with egress off, and is not an egress: %s',
  async (_, by) => {
    await using both = await startBoth()
    // More bytes than the sandbox may send in all.
    for (let i = 0; i < 3; i++)
      expect(await by(both.port, '127.0.0.1:3129')).toEqual({
        status: 200,
        text: JSON.stringify(['POST', '/v1/x?y=1', '127.0.0.1:3129', 'Bearer x', 5_000]),
      })
    await both.proxy.recheck()
    expect([both.refusals, both.texts]).toEqual([[], []])
  },
)

it.each(WAYS)('no other address of the machine is, by no spelling: %s', async (_, by) => {
  await using own = await servePlain((_, response) => response.end('own'))
  await using both = await startBoth()
  for (const at of [
    `127.0.0.1:${own.port}`,
    '127.0.0.1:3128',
    '127.0.0.1:80',
    'localhost:3129',
    '[::1]:3129',
    '[::ffff:127.0.0.1]:3129',
    '127.0.0.2:3129',
  ])
    expect([at, (await by(both.port, at)).status]).toEqual([at, 403])
  expect(both.refusals).toHaveLength(7)
})

it.each(WAYS)('a sandbox without a gateway reaches nothing there: %s', async (_, by) => {
  await using both = await startBoth(false)
  expect((await by(both.port, '127.0.0.1:3129')).status).toBe(403)
  expect(both.refusals).toMatchObject([{ ...ADDRESS, reason: 'private_address' }])
})
