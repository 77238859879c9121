import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { servePlain } from '../egress/servers.ts'
import { serveMcp } from './http-server.ts'
import { callsInTurn, playRun, startMcpApp } from './mcp-app.ts'

/** Addresses that speak MCP, under the egress rules of the run. */
let app: Awaited<ReturnType<typeof startMcpApp>>
beforeAll(async () => {
  app = await startMcpApp(
    callsInTurn(
      { name: 'tickets__search', arguments: { text: 'a bug' } },
      { name: 'tickets__headers', arguments: {} },
    ),
    { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' },
  )
})
afterAll(() => app[Symbol.asyncDispose]())
afterEach(() => app.servers.remove('tickets'))

const CREDENTIAL = 'credential-of-tickets'
const allow = async (...ports: number[]) => {
  const agent = { mode: 'allowlist', allow: ports.map(port => ({ host: 'localhost', port })), presets: [] }
  expect((await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })).status).toBe(200)
}
const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

test('an address that the rules allow is used with its credential, which no sandbox, trace or request of the model has', async () => {
  await using server = await serveMcp()
  await allow(server.port)
  await app.servers.set('tickets', {
    url: `${server.origin}/mcp`,
    credential: CREDENTIAL,
    headers: { 'X-Team': 'shop' },
  })
  const { run, logs, actions, requests } = await playRun(app)
  expect(run.status).toBe('completed')
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__search')).toMatchObject({
    tool_output: { status: 'ok', text: 'found a bug' },
    observation: { server: 'tickets', tool: 'search' },
  })
  expect(actions.find(({ tool_name }) => tool_name === 'mcp_connections').tool_output.servers).toMatchObject([
    { protocol: '2026-07-28' },
  ])
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__headers').tool_output.text).toBe(
    'called with Bearer [redacted:AGENTRUN_MCP_CREDENTIAL_TICKETS]',
  )
  expect(server.seen.length).toBeGreaterThan(1)
  for (const { headers } of server.seen)
    expect(headers).toMatchObject({ authorization: `Bearer ${CREDENTIAL}`, 'x-team': 'shop' })
  expect(JSON.stringify([logs, requests.map(({ body }) => body)])).not.toContain(CREDENTIAL)
})

test('a credential may have a header of its own', async () => {
  await using server = await serveMcp()
  await allow(server.port)
  await app.servers.set('tickets', {
    url: `${server.origin}/mcp`,
    credential: CREDENTIAL,
    credential_header: 'X-Api-Key',
  })
  await playRun(app)
  for (const { headers } of server.seen)
    expect([headers['x-api-key'], headers.authorization]).toEqual([CREDENTIAL, undefined])
})

test('an address that no rule allows gets no request; the trace shows the refusal as of a request from the sandbox', async () => {
  await using server = await serveMcp()
  await allow(1)
  await app.servers.set('tickets', { url: `${server.origin}/mcp`, credential: CREDENTIAL })
  const { run, tools, errors, actions } = await playRun(app)
  expect(run.status).toBe('completed')
  expect(server.seen).toEqual([])
  expect(tools.some(name => name.includes('__'))).toBe(false)
  expect(errors[0].message).toContain(`no rule allows localhost:${server.port}`)
  expect(actions.find(({ tool_name }) => tool_name === 'egress_blocked')).toMatchObject({
    tool_input: { host: 'localhost', port: server.port },
    tool_output: { reason: 'not_allowed' },
  })
})

test.each(['http://169.254.169.254/latest/meta-data', 'http://localhost:1/internal'])(
  'a redirect to %s is not followed, and the credential goes nowhere else',
  async location => {
    await using server = await serveMcp((_, response) => json(response, 307, {}, { location }))
    await allow(server.port)
    await app.servers.set('tickets', {
      url: `${server.origin}/mcp`,
      credential: CREDENTIAL,
      timeout_seconds: 10,
    })
    const { run, errors } = await playRun(app)
    expect(run.status).toBe('completed')
    expect(errors[0].message).toMatch(/^MCP server tickets: .*redirect/is)
  },
)

test.each([
  ['401', (response: ServerResponse) => json(response, 401, {}), /401|Unauthorized/i],
  ['500', (response: ServerResponse) => json(response, 500, {}), /500/],
  [
    'HTML',
    (response: ServerResponse) =>
      Boolean(response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello')),
    /content type/i,
  ],
  ['silence', () => true, /It did not respond within 2 s/],
  [
    'an endless response',
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const write = () =>
        response.destroyed || response.write('x'.repeat(1_000_000), () => setImmediate(write))
      write()
      return true
    },
    /It sent more than 1048576 bytes before its tools were known|did not respond/,
  ],
])(
  'an address that responds with %s is an error of the trace, and the run continues',
  async (_, respond, message) => {
    await using server = await serveMcp((__, response) => respond(response))
    await allow(server.port)
    await app.servers.set('tickets', { url: `${server.origin}/mcp`, timeout_seconds: 2 })
    const { run, errors } = await playRun(app)
    expect(run.status).toBe('completed')
    expect(errors[0].message).toMatch(message)
  },
)

const challenge = (origin: string, response: ServerResponse) =>
  json(
    response,
    401,
    {},
    { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"` },
  )

/** An authorization server that issues one token. */
async function serveTokens(asked: string[] = []) {
  const server = await servePlain((request, response) => {
    const origin = `http://localhost:${server.port}`
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
    if (request.url === '/token')
      return void json(response, 200, {
        access_token: 'token-of-a-run',
        token_type: 'Bearer',
        expires_in: 60,
      })
    json(response, 200, {
      issuer: origin,
      token_endpoint: `${origin}/token`,
      authorization_endpoint: `${origin}/authorize`,
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    })
  })
  return server
}

test('an OAuth client gets a token for its secret, from its own authorization server alone', async () => {
  const asked: string[] = []
  await using authorization = await serveTokens(asked)
  const issuer = `http://localhost:${authorization.port}`
  await using server = await serveMcp((request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, 200, { resource: `${server.origin}/mcp`, authorization_servers: [issuer] })
    if (request.headers.authorization === 'Bearer token-of-a-run') return false
    return challenge(server.origin, response)
  })
  await allow(server.port, authorization.port)
  const oauth = { client_id: 'agentrun', issuer, scope: null }
  await app.servers.set('tickets', { url: `${server.origin}/mcp`, credential: CREDENTIAL, oauth })
  const { actions } = await playRun(app)
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__search')?.tool_output.text).toBe(
    'found a bug',
  )
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__headers')?.tool_output.text).toBe(
    'called with Bearer [redacted:ACCESS_TOKEN]',
  )
  const basic = Buffer.from(`agentrun:${CREDENTIAL}`).toString('base64')
  expect(asked.filter(line => line.includes('/token'))).toEqual([`POST /token Basic ${basic}`])

  asked.length = 0
  await app.servers.set('tickets', {
    url: `${server.origin}/mcp`,
    credential: CREDENTIAL,
    oauth: { ...oauth, issuer: 'https://auth.example.com' },
  })
  const { errors } = await playRun(app)
  expect(errors[0].message).toContain('MCP server tickets')
  expect(asked.filter(line => line.includes('/token'))).toEqual([])
})

type Message = { id?: number; method?: string }
/** A server of an earlier revision whose tool describes itself with `text`. */
function describe(text: string, { id, method }: Message): [number, unknown] {
  const inputSchema = { type: 'object', properties: { text: { type: 'string', description: text } } }
  const info = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: text, version: '1' },
  }
  if (method === 'initialize') return [200, { jsonrpc: '2.0', id, result: info }]
  if (method === 'tools/list')
    return [
      200,
      {
        jsonrpc: '2.0',
        id,
        result: { tools: [{ name: 'search', description: `Called with ${text}.`, inputSchema }] },
      },
    ]
  return id === undefined
    ? [202, null]
    : [200, { jsonrpc: '2.0', id, error: { code: -32_601, message: `${method}: ${text}` } }]
}

/** How an address may send back the token that it got. */
const ECHOES: [string, (token: string, message: Message) => [number, unknown]][] = [
  ['the description of a tool', describe],
  [
    'an error of the protocol',
    (token, { id }) => [200, { jsonrpc: '2.0', id, error: { code: -32_000, message: `Refused: ${token}` } }],
  ],
  [
    'an HTTP error, where it is shortened',
    (token, message) =>
      message.method === 'tools/list'
        ? [500, `${'x'.repeat(800)} ${`${token} `.repeat(50)}`]
        : describe('nothing', message),
  ],
]

test.each(ECHOES)('the token of an OAuth client that comes back in %s is redacted', async (_, echo) => {
  await using authorization = await serveTokens()
  await using server = await servePlain(async (request, response) => {
    const origin = `http://localhost:${server.port}`
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return void json(response, 200, {
        resource: `${origin}/mcp`,
        authorization_servers: [`http://localhost:${authorization.port}`],
      })
    const { authorization: sent } = request.headers
    if (sent === undefined) return void challenge(origin, response)
    if (request.method !== 'POST') return void json(response, 405, {})
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const [status, body] = echo(sent.replace('Bearer ', ''), JSON.parse(Buffer.concat(pieces).toString()))
    json(response, status, body)
  })
  await allow(server.port, authorization.port)
  const oauth = { client_id: 'agentrun', issuer: `http://localhost:${authorization.port}`, scope: null }
  await app.servers.set('tickets', {
    url: `http://localhost:${server.port}/mcp`,
    credential: CREDENTIAL,
    oauth,
  })
  const { run, logs, requests } = await playRun(app)
  expect(run.status).toBe('completed')
  const all = JSON.stringify([logs, requests.map(({ body }) => body)])
  expect(all).toContain('[redacted:ACCESS_TOKEN]')
  expect(all).not.toMatch(/token-of-a/)
})

test('a call that an address breaks off is not repeated, and the next one has a new connection', async () => {
  let broken = 0
  await using server = await serveMcp((request, response) => {
    if (request.headers['mcp-method'] !== 'tools/call' || broken > 0) return false
    broken++
    response.destroy()
    return true
  })
  await allow(server.port)
  await app.servers.set('tickets', { url: `${server.origin}/mcp` })
  const { run, actions } = await playRun(app)
  expect(run.status).toBe('completed')
  const outputs = actions
    .filter(({ tool_name }) => tool_name?.includes('__'))
    .map(({ tool_output }) => tool_output)
  expect(outputs).toMatchObject([
    {
      status: 'error',
      error: expect.stringMatching(/It may or may not have taken effect: check before you repeat it\.$/),
    },
    { status: 'ok', text: expect.stringContaining('called with') },
  ])
  expect(server.seen.filter(({ headers }) => headers['mcp-method'] === 'tools/call')).toHaveLength(2)
})

test('a credential that comes back in a description is redacted before that is shortened', async () => {
  await using server = await servePlain(async (request, response) => {
    if (request.method !== 'POST') return void json(response, 405, {})
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    // The first 1,024 characters of the description end within it.
    const text = `${'x '.repeat(500)}${request.headers.authorization?.replace('Bearer ', '')}`
    const [status, body] = describe(text, JSON.parse(Buffer.concat(pieces).toString()))
    json(response, status, body)
  })
  await allow(server.port)
  await app.servers.set('tickets', { url: `http://localhost:${server.port}/mcp`, credential: CREDENTIAL })
  const { run, requests } = await playRun(app)
  expect(run.status).toBe('completed')
  const all = JSON.stringify(requests.map(({ body }) => body))
  expect(all).toContain('x x [redact')
  expect(all).not.toContain('credential-of')
})
