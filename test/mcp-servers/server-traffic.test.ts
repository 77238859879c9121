import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAddress, openProgram } from '../../src/mcp/open-server.ts'
import { makeDriver, startSandbox, type TestSandbox } from '../sandbox/start-sandbox.ts'
import { serveMcp } from './http-server.ts'
import { HOSTILE } from './mcp-app.ts'

/** What a server sends other than results, over both transports. */
const created = makeDriver()
let box: TestSandbox
beforeAll(async () => {
  const workspace = created.makeWorkspace('traffic')
  writeFileSync(join(workspace, 'server.mjs'), HOSTILE)
  box = await startSandbox(created.driver, workspace)
})
afterAll(async () => {
  await box[Symbol.asyncDispose]()
  await created[Symbol.asyncDispose]()
})

const limits = () => ({
  timeout_ms: 20_000,
  signal: new AbortController().signal,
  redact: async (text: string) => text,
})
const start = (how: string) =>
  openProgram(
    box.sandbox,
    { command: 'node', args: ['/workspace/server.mjs', how], environment: {} },
    limits(),
  )

test('a program gets a response to each request, and its notifications disturb no call', async () => {
  await using requests = await start('requests')
  const [block] = (await requests.call('act', {}, limits())).content
  expect(block).toEqual({
    type: 'text',
    text: JSON.stringify([
      { id: 'p', jsonrpc: '2.0', result: {} },
      { id: 7, jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' } },
    ]),
  })
  await using notices = await start('notices')
  for (let i = 0; i < 6; i++)
    expect((await notices.call('act', {}, limits())).content).toEqual([
      { type: 'text', text: 'after notices' },
    ])
})

test.each([
  ['flood', 'It sent more than 1000 requests during one call.'],
  ['flood-of-notices', 'It sent more than 10000 messages during one call.'],
])('a program that sends messages without end is ended: %s', async (how, message) => {
  await using flood = await start(how)
  await expect(flood.call('act', {}, limits())).rejects.toThrow(message)
  expect(flood.hasEnded()).toBe(true)
})

test('a connection keeps the list of tools no longer than until it is taken', async () => {
  await using connection = await start('instructions')
  expect(connection.takeTools()).toHaveLength(4)
  expect(connection.takeTools()).toEqual([])
  expect(Object.values(connection).filter(Array.isArray)).toEqual([])
})

test('a list of tools of more than 1 MiB is not read', async () => {
  await expect(start('large-list')).rejects.toThrow(
    'It sent more than 1048576 bytes before its tools were known.',
  )
})

const act = { name: 'act', inputSchema: { type: 'object' } }
/** An address of a revision with `initialize`. `respond` writes the response to a request. */
async function serveLegacy(
  respond: (
    message: { id: number; method: string; params?: { cursor?: string } },
    response: ServerResponse,
  ) => void,
) {
  const bodyOf = async (request: IncomingMessage) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    return JSON.parse(Buffer.concat(pieces).toString())
  }
  return serveMcp((request, response) => {
    if (request.method !== 'POST') return Boolean(response.writeHead(405).end())
    void bodyOf(request).then(message => {
      const { id, method, params } = message
      const result = {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      }
      if (method === 'server/discover')
        send(response, { id, error: { code: -32601, message: 'Method not found' } })
      else if (method === 'initialize') send(response, { id, result })
      else if (method?.startsWith('tools/')) respond(message, response)
      else response.writeHead(202).end()
    })
    return true
  })
}
const send = (response: ServerResponse, message: object) =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }))
const connect = ({ origin }: { origin: string }) =>
  openAddress(
    fetch,
    {
      url: `${origin}/mcp`,
      headers: {},
      credential: null,
      credential_header: null,
      oauth: null,
      sign_in: null,
    },
    limits(),
  )

test('an address that sends requests without end gets no response to each, and its connection is ended', async () => {
  await using server = await serveLegacy(({ id, method }, response) => {
    if (method === 'tools/list') return send(response, { id, result: { tools: [act] } })
    const events = Array.from(
      { length: 2_000 },
      (_, ping) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: ping, method: 'ping' })}\n\n`,
    )
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      `${events.join('')}data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`,
    )
  })
  await using connection = await connect(server)
  const before = server.seen.length
  await expect(connection.call('act', {}, limits())).rejects.toThrow(
    'It sends requests and takes no responses.',
  )
  expect(connection.hasEnded()).toBe(true)
  expect(server.seen.length - before).toBeLessThanOrEqual(1 + 8)
})

test('the pages of a list of an address count together', async () => {
  const description = 'x'.repeat(400_000)
  await using server = await serveLegacy(({ id, params }, response) => {
    const page = Number(params?.cursor ?? 0)
    send(response, {
      id,
      result: { tools: [{ ...act, name: `act${page}`, description }], nextCursor: `${page + 1}` },
    })
  })
  await expect(connect(server)).rejects.toThrow(
    'It sent more than 1048576 bytes before its tools were known.',
  )
  expect(server.seen.length).toBeLessThan(10)
})
