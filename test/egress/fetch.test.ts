import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { fetchByRules } from '../../src/egress/fetch.ts'
import { default_caps, type Refusal } from '../../src/egress/proxy-configuration.ts'
import { listen, servePlain } from './servers.ts'

/** Requests that the service sends for a run, with a limit of bytes and two connections. */
function startFetch(port: number, bytes: number) {
  const refusals: Refusal[] = []
  const { fetch } = fetchByRules({
    rules: async () => [{ host: 'a.example', port }],
    resolve: async () => ['127.0.0.1'],
    allow_private: true,
    upstream: null,
    gateway: null,
    caps: { ...default_caps, bytes, connections: 2 },
    onRequestText() {},
    onRefused: refusal => refusals.push(refusal),
  })
  const send = async (body?: string): Promise<number | string> => {
    try {
      const response = await fetch(
        `http://a.example:${port}/`,
        body === undefined ? {} : { method: 'POST', body },
      )
      return (await response.arrayBuffer()).byteLength
    } catch (error) {
      const { cause, message } = error as Error
      return cause instanceof Error ? cause.message : message
    }
  }
  return { send, refusals }
}

it('an impossible status is an error, and its connection is closed', async () => {
  const open = new Set<Socket>()
  await using server = await listen(
    createServer(socket => {
      open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)))
      socket.once('data', () => socket.write('HTTP/1.1 999 Strange\r\nContent-Length: 100\r\n\r\n'))
    }),
    '127.0.0.1',
    0,
  )
  const { send, refusals } = startFetch(server.port, 1_000_000)
  for (let i = 0; i < 5; i++)
    expect(await send()).toBe('it responded with 999, which is not a status of HTTP')
  await expect.poll(() => open.size).toBe(0)
  expect(refusals).toEqual([])
})

const CAP = { host: 'a.example', reason: 'cap', why: 'this run has sent and received its 100000 bytes' }

it('the bytes of requests count, and what is refused for them is reported', async () => {
  let requests = 0
  await using server = await servePlain((request, response) => {
    requests++
    request.resume().on('end', () => response.end('ok'))
  })
  const { send, refusals } = startFetch(server.port, 100_000)
  expect(await send('b'.repeat(60_000))).toBe(2)
  expect(await send('b'.repeat(60_000))).toBe('the run has sent and received all the bytes that it may')
  expect(await send('b')).toBe(CAP.why)
  expect(requests).toBe(2)
  expect(refusals).toMatchObject([{ ...CAP, port: server.port, method: 'POST' }])
})

it('all bytes of a response count, also the first of them', async () => {
  await using server = await servePlain((_, response) => response.end('z'.repeat(30_000)))
  const { send, refusals } = startFetch(server.port, 100_000)
  for (let i = 0; i < 3; i++) expect(await send()).toBe(30_000)
  expect(await send()).toBe('the run has sent and received all the bytes that it may')
  expect(await send()).toBe(CAP.why)
  expect(refusals).toMatchObject([{ ...CAP, method: 'GET' }])
})
