import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendRaw } from '../api/http/raw-request.ts'
import { addPerson } from '../api/members/people.ts'
import { type App, startApp } from '../start-app.ts'
import { connectClient, message, post } from './connect-client.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_CORS_ORIGINS: '*,https://inspector.example' })
})
afterAll(() => app[Symbol.asyncDispose]())

const initialize = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})
const metadata = (base_url: string) => `${base_url}/.well-known/oauth-protected-resource/mcp`

test.each([
  ['missing', ''],
  ['malformed', 'Bearer nonsense'],
  ['unknown', 'Bearer arun_p00000000000000000000000000000000000000'],
])(
  'a %s token is refused with 401, which refers to the metadata of the resource',
  async (_kind, authorization) => {
    const { status, headers, body } = await post(app, initialize, { authorization })
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthorized' })
    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${metadata(app.base_url)}", scope="runs:read runs:write logs:read repos:read org:read"`,
    )
  },
)

test('a token that expires or is revoked is refused with the next message, also during a connection', async () => {
  const person = await addPerson(app, 'MEMBER')
  await using mcp = await connectClient({ base_url: app.base_url, token: person.token })
  await mcp.succeed('list_agent_runs')
  await app.db.query({
    text: "update tokens set expires_at = now() - interval '1 second' where id = $1",
    values: [person.token_id],
  })
  await expect(mcp.client.callTool({ name: 'list_agent_runs', arguments: {} })).rejects.toMatchObject({
    message: expect.stringContaining('401'),
  })
  expect((await post({ base_url: app.base_url, token: person.token }, message('tools/list'))).status).toBe(
    401,
  )
})

test.each(['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'])(
  '%s describes the resource without a token, as RFC 9728 defines',
  async path => {
    const response = await fetch(app.base_url + path)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      resource: `${app.base_url}/mcp`,
      authorization_servers: [app.base_url],
      bearer_methods_supported: ['header'],
      scopes_supported: expect.arrayContaining(['runs:write', 'logs:read']),
    })
    const missing = await fetch(`${app.base_url}/.well-known/openid-configuration`, {
      headers: { accept: 'text/html, application/json' },
    })
    expect(missing.status).toBe(404)
  },
)

test.each(['GET', 'DELETE', 'PUT', 'PATCH'])(
  '%s is refused with 405 and what is allowed, with and without a session',
  async method => {
    for (const session of ['', 'one']) {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
      const { status, headers: sent } = await app.call(method, '/mcp', undefined, headers)
      expect({ status, allow: sent.get('allow') }).toEqual({ status: 405, allow: 'POST' })
    }
  },
)

test.each([
  ['https://evil.example', 403],
  ['null', 403],
  ['*', 403],
  ['https://inspector.example', 200],
])('a page of the origin %s gets %i, although every origin may call the API', async (origin, wanted) => {
  const { status, headers } = await post(app, initialize, { origin })
  expect(status).toBe(wanted)
  expect(headers.get('access-control-allow-origin')).toBe(wanted === 200 ? origin : null)
  expect((await post(app, initialize, { origin: new URL(app.base_url).origin })).status).toBe(200)
})

test('a foreign host name is refused, as for every request of a service on the loopback (DNS rebinding)', async () => {
  const body = JSON.stringify(initialize)
  const [response] = await sendRaw(
    app,
    `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${app.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  expect(response?.status).toBe(403)
})

test('a batch, a body that is not JSON, one of another type and one of 50 MB are refused', async () => {
  expect(await post(app, [initialize, message('tools/list')])).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
  expect(await post(app, '{"jsonrpc":')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect((await post(app, 'hello', { 'content-type': 'text/plain' })).status).toBe(415)
  expect(await post(app, 'null')).toMatchObject({ status: 400 })
  expect(await post(app, '"text"')).toMatchObject({ status: 400 })
  expect(await post(app, { jsonrpc: '1.0', id: 1, method: 'tools/list' })).toMatchObject({ status: 400 })
  const large = message('tools/call', {
    name: 'create_agent_run',
    arguments: { prompt: 'x'.repeat(50_000_000) },
  })
  expect(await post(app, large).catch(() => ({ status: 413 }))).toMatchObject({ status: 413 })
})

test('an unknown revision, method, tool and subscription are refused with what is known', async () => {
  const meta = (version: string) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  })
  const headers = (version: string, method: string) => ({
    'mcp-protocol-version': version,
    'mcp-method': method,
  })
  const future = await post(
    app,
    message('tools/list', meta('2099-01-01')),
    headers('2099-01-01', 'tools/list'),
  )
  expect(future).toMatchObject({
    status: 400,
    body: { error: { data: { supported: ['2026-07-28'], requested: '2099-01-01' } } },
  })
  const legacy = await post(app, message('tools/list'), { 'mcp-protocol-version': '1999-01-01' })
  expect(legacy).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('2025-11-25') } },
  })
  // A handshake proposes a revision; the server offers the newest that it has.
  const offered = await post(
    app,
    message('initialize', { ...initialize.params, protocolVersion: '1999-01-01' }),
  )
  expect(offered).toMatchObject({ status: 200, body: { result: { protocolVersion: '2025-11-25' } } })

  expect((await post(app, message('nothing/known'))).body).toMatchObject({ error: { code: -32_601 } })
  expect(
    (await post(app, message('tools/call', { name: 'delete_agent_run', arguments: {} }))).body,
  ).toMatchObject({
    error: { code: -32_602, message: 'Unknown tool: delete_agent_run' },
  })
  const listen = await post(
    app,
    message('subscriptions/listen', meta('2026-07-28')),
    headers('2026-07-28', 'subscriptions/listen'),
  )
  expect(listen.status).toBe(404)
})

test('ten thousand levels, arguments of other types and prototype names are refused and change nothing', async () => {
  await using mcp = await connectClient(app)
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_agent_run","arguments":{"prompt":${'['.repeat(10_000)}${']'.repeat(10_000)}}}}`
  expect(await post(app, deep)).toMatchObject({ status: 400 })
  const named = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{}}}'
  expect((await post(app, named)).body).toMatchObject({ error: { code: -32_602 } })
  for (const [args, loc] of [
    [{ prompt: 7 }, 'prompt'],
    [{ prompt: 'x', repo_id: 'all' }, 'repo_id'],
    [{ prompt: 'x', org_id: { id: 1 } }, 'org_id'],
    [{ prompt: 'x', org_id: -1 }, 'org_id'],
    [{ prompt: 'x', repository_id: 1 }, 'repository_id'],
    [{ prompt: 'x', constructor: 1 }, 'constructor'],
    [{ prompt: 'x', idempotency_key: 7 }, 'idempotency_key'],
    [{ prompt: 'x', idempotency_key: 'ü' }, 'idempotency_key'],
    [{}, 'prompt'],
  ] as const)
    expect(await mcp.refuse('create_agent_run', args)).toMatchObject({
      code: 'invalid_request',
      errors: [{ loc: ['arguments', loc] }],
    })
  expect(await mcp.refuse('get_agent_run_logs', { agent_run_id: 1, limit: 101 })).toMatchObject({
    errors: [{ loc: ['arguments', 'limit'] }],
  })
  expect(await mcp.refuse('wait_for_agent_run', { agent_run_id: 1, timeout_seconds: 601 })).toMatchObject({
    errors: [{ loc: ['arguments', 'timeout_seconds'] }],
  })
  expect(await mcp.refuse('stop_agent_run', { agent_run_id: 1, idempotency_key: 'a' })).toMatchObject({
    errors: [{ loc: ['arguments', 'idempotency_key'] }],
  })
  expect((await mcp.succeed('list_agent_runs')).total).toBe(0)
})

test.each([
  ['a refused call', message('tools/call', { name: 'list_agent_runs', arguments: [1] })],
  ['a call', message('tools/call', { name: 'list_agent_runs', arguments: {} })],
  ['initialize', initialize],
])(
  'the response to %s ends the connection of a client that asks for it, also as an event stream',
  async (_kind, body) => {
    const headers = {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      connection: 'close',
    }
    const sent = request(`${app.base_url}/mcp`, { method: 'POST', headers, agent: false }).end(
      JSON.stringify(body),
    )
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect([response.statusCode, response.headers.connection]).toEqual([200, 'close'])
    await text(response)
  },
)
