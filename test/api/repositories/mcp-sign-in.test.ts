import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { callsInTurn, pathOf, playRun, startMcpApp } from '../../mcp-servers/mcp-app.ts'
import { type Behaviour, serveSignIn } from '../../mcp-servers/sign-in/authorization-server.ts'
import { type Remote, sign_in, signed_in, signInCalls } from '../../mcp-servers/sign-in/sign-in-calls.ts'
import { rows } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from '../members/people.ts'

/** Signing in to an MCP server by OAuth in a browser. */
let app: Awaited<ReturnType<typeof startMcpApp>>
let calls: ReturnType<typeof signInCalls>
beforeAll(async () => {
  app = await startMcpApp(
    callsInTurn(
      { name: 'tickets__search', arguments: { text: 'a bug' } },
      { name: 'tickets__headers', arguments: {} },
    ),
    { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' },
  )
  calls = signInCalls(app)
})
afterAll(() => app[Symbol.asyncDispose]())
afterEach(async () => {
  vi.restoreAllMocks()
  await app.servers.remove('tickets')
})

const allow = async (ports: number[]) => {
  const agent = { mode: 'allowlist', allow: ports.map(port => ({ host: 'localhost', port })), presets: [] }
  expect((await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })).status).toBe(200)
}
const stateOf = async (repo_id?: number) => {
  const { items } = (await app.call('GET', pathOf(app, repo_id))).body
  return items.find(({ name }: { name: string }) => name === 'tickets').sign_in_state
}
async function signIn(remote: Remote, repo_id?: number): Promise<URL> {
  const back = await calls.begin(remote, { repo_id })
  expect((await calls.finish(back)).body).toEqual({ ...signed_in, repo_id: repo_id ?? null })
  return back
}

test('200: a person signs in once, and runs act with that access, which no sandbox, trace, request of the model or response has', async () => {
  await using remote = await serveSignIn()
  await allow(remote.ports)
  await app.servers.set('tickets', { url: remote.url, sign_in })
  expect(await stateOf()).toEqual({
    status: 'signed_out',
    issuer: null,
    signed_in_at: null,
    expires_at: null,
    problem: null,
  })
  const begun = await calls.start()
  const address = new URL(begun.body.authorization_url)
  expect(address.origin + address.pathname).toBe(`${remote.issuer}/authorize`)
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'client-of-the-service',
    code_challenge_method: 'S256',
    scope: 'tickets:read',
    redirect_uri: `${app.base_url}/mcp-sign-in`,
    resource: remote.url,
  })
  const back = remote.allow(begun.body.authorization_url)
  expect(await calls.view(back)).toMatchObject({
    status: 200,
    body: {
      server: 'tickets',
      repo_id: null,
      url: remote.url,
      issuer: remote.issuer,
      started_by: app.user_id,
      expires_at: begun.body.expires_at,
    },
  })
  expect(await calls.finish(back)).toMatchObject({ status: 200, body: signed_in })
  const state = await stateOf()
  expect(state).toMatchObject({ status: 'signed_in', issuer: remote.issuer, expires_at: null, problem: null })
  expect(remote.state.forms).toMatchObject([{ grant_type: 'authorization_code', resource: remote.url }])

  const { actions, logs, requests } = await playRun(app)
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__search')?.tool_output.text).toBe(
    'found a bug',
  )
  const shown = actions.find(({ tool_name }) => tool_name === 'tickets__headers')?.tool_output.text
  expect(shown).toMatch(/^called with Bearer \[redacted:/)
  const listed = await app.call('GET', pathOf(app))
  const audit = await rows(
    app,
    `select action, detail::text
      from audit_entries
      where target_id = 'tickets'
      order by id`,
  )
  expect(audit.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['mcp_server.sign_in_started', 'mcp_server.signed_in']),
  )
  expect(JSON.stringify([logs, requests.map(({ body }) => body), state, listed.body, audit])).not.toMatch(
    /token-number/,
  )
})

test('the sign-in to a server of a repository belongs to the repository', async () => {
  await using remote = await serveSignIn()
  await signIn(remote, app.repo_id)
  expect(await stateOf(app.repo_id)).toMatchObject({ status: 'signed_in' })
  await app.servers.remove('tickets', app.repo_id)
  expect(await calls.stored()).toEqual([])
})

test('this service signs in to the MCP endpoint of a service, by its own authorization server', async () => {
  await allow([Number(new URL(app.base_url).port)])
  await app.servers.set('tickets', {
    url: `${app.base_url}/mcp`,
    sign_in: { ...sign_in, scope: 'runs:read repos:read' },
  })
  const begun = await calls.start()
  const query = Object.fromEntries(new URL(begun.body.authorization_url).searchParams)
  const { client_id, redirect_uri, code_challenge, code_challenge_method, state, resource, scope } = query
  const allowed = await app.call('POST', `/v1/organizations/${app.org_id}/oauth/authorizations`, {
    client_id,
    redirect_uri,
    code_challenge,
    code_challenge_method,
    state,
    resource,
    scopes: scope?.split(' '),
  })
  expect((await calls.finish(new URL(allowed.body.redirect_to))).body).toEqual(signed_in)
  // It gives no refresh tokens.
  expect(await stateOf()).toMatchObject({
    status: 'signed_in',
    issuer: app.base_url,
    expires_at: expect.any(String),
  })
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 31 * 86_400_000)
  expect(await stateOf()).toMatchObject({ status: 'expired' })
})

test('several runs renew an ending token with one request, store it before they use it, and the refresh token is used once', async () => {
  await using remote = await serveSignIn({ tokens: { expires_in: 30 } })
  await allow(remote.ports)
  await signIn(remote)
  remote.state.behaviour = {}
  const played = await Promise.all([playRun(app), playRun(app), playRun(app)])
  for (const { actions } of played)
    expect(actions.some(({ tool_name }) => tool_name === 'tickets__search')).toBe(true)
  expect(remote.state.forms.map(({ grant_type }) => grant_type)).toEqual([
    'authorization_code',
    'refresh_token',
  ])
  await playRun(app)
  expect(remote.state.forms).toHaveLength(2)
})

test('a token that the server rejects is renewed once, and the run continues', async () => {
  await using remote = await serveSignIn()
  await allow(remote.ports)
  await signIn(remote)
  remote.state.valid.clear()
  const { actions } = await playRun(app)
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__search')?.tool_output.text).toBe(
    'found a bug',
  )
  expect(remote.state.forms.map(({ grant_type }) => grant_type)).toEqual([
    'authorization_code',
    'refresh_token',
  ])
})

test('when the authorization server ends the sign-in, the run and the settings show that a person has to sign in again', async () => {
  await using remote = await serveSignIn()
  await allow(remote.ports)
  await signIn(remote)
  remote.state.valid.clear()
  remote.state.refresh.clear()
  const { run, errors } = await playRun(app)
  expect(run.status).toBe('completed')
  expect(errors[0]).toMatchObject({
    code: 'mcp_server_failed',
    message: expect.stringContaining('has to sign in again'),
  })
  expect(await stateOf()).toMatchObject({
    status: 'signed_out',
    problem: expect.stringContaining('invalid_grant'),
  })
  expect((await playRun(app)).errors[0].message).toContain('has to sign in again')
  expect(remote.state.forms).toHaveLength(2)
})

test('a renewal that fails for a while ends no sign-in', async () => {
  await using remote = await serveSignIn()
  await allow(remote.ports)
  await signIn(remote)
  remote.state.valid.clear()
  remote.state.behaviour = {
    before: (request, response) =>
      request.url === '/token' && Boolean(response.writeHead(503).end('<p>later')),
  }
  expect((await playRun(app)).errors[0].message).toContain('could not be renewed')
  expect(await stateOf()).toMatchObject({ status: 'signed_in' })
  remote.state.behaviour = {}
  expect((await playRun(app)).errors).toEqual([])
})

const flood = (_: unknown, response: import('node:http').ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const write = () => response.destroyed || response.write('x'.repeat(100_000), () => setImmediate(write))
  write()
  return true
}
const redirect = (location: string) => (_: unknown, response: import('node:http').ServerResponse) =>
  Boolean(response.writeHead(302, { location }).end())

test.each<[string, Behaviour, RegExp]>([
  [
    'a metadata service as authorization server',
    { resource: d => ({ ...d, authorization_servers: ['http://169.254.169.254'] }) },
    /https/,
  ],
  [
    'a private https address',
    { resource: d => ({ ...d, authorization_servers: ['https://169.254.169.254'] }) },
    /not allowed/,
  ],
  [
    'a redirect to a metadata service',
    { before: redirect('http://169.254.169.254/latest') },
    /redirects, which is not followed/,
  ],
  ['a redirect within its origin', { before: redirect('/elsewhere') }, /redirects, which is not followed/],
  ['another issuer', { metadata: d => ({ ...d, issuer: 'https://other.example' }) }, /issuer/i],
  ['an endless body', { before: flood }, /larger than/],
  [
    'javascript: as authorization endpoint',
    { metadata: d => ({ ...d, authorization_endpoint: 'javascript:alert(1)' }) },
    /authorization_endpoint/,
  ],
  [
    'http: as authorization endpoint',
    { metadata: d => ({ ...d, authorization_endpoint: 'http://a.example/' }) },
    /authorization_endpoint .*https/,
  ],
  [
    'http: as token endpoint',
    { metadata: d => ({ ...d, token_endpoint: 'http://a.example/' }) },
    /token_endpoint .*https/,
  ],
  [
    'credentials in an address',
    { metadata: d => ({ ...d, token_endpoint: 'https://u:p@a.example/' }) },
    /token_endpoint .*credentials/,
  ],
  [
    'a private registration endpoint',
    { metadata: d => ({ ...d, registration_endpoint: 'https://169.254.169.254/' }) },
    /not allowed/,
  ],
  ['no PKCE', { metadata: ({ code_challenge_methods_supported, ...d }) => d }, /S256/],
  ['no registration', { metadata: ({ registration_endpoint, ...d }) => d }, /sign_in.client_id/],
  [
    'the resource of another server',
    { resource: d => ({ ...d, resource: 'https://other.example/mcp' }) },
    /resource/,
  ],
  ['metadata that are not an object', { metadata: () => ['<script>'] }, /invalid response/],
  [
    'a refused registration',
    { before: (q, r) => q.url === '/register' && Boolean(r.writeHead(400).end('<b>no</b>')) },
    /./,
  ],
])(
  '409: nobody can sign in to a server with %s; the reason is named, and nothing is stored',
  async (_, behaviour, reason) => {
    await using remote = await serveSignIn(behaviour)
    await app.servers.set('tickets', { url: remote.url, sign_in })
    const before = await contents(app)
    const { status, body } = await calls.start()
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'conflict' })
    expect(body.detail).toMatch(reason)
    expect(await contents(app)).toEqual(before)
  },
)

describe('a response to a sign-in that gives nothing', () => {
  const signedOut = async (problem: RegExp | null) => {
    const state = await stateOf()
    expect(state.status).toBe('signed_out')
    if (problem === null) expect(state.problem).toBe(null)
    else expect(state.problem).toMatch(problem)
  }

  test.each<[string, (back: URL) => void, RegExp]>([
    ['another issuer', back => back.searchParams.set('iss', 'https://other.example'), /issuer/i],
    ['no issuer although the server names it', back => back.searchParams.delete('iss'), /iss/i],
    ['another code', back => back.searchParams.set('code', 'guessed'), /invalid_grant/],
    ['no code', back => back.searchParams.delete('code'), /passed no code/],
  ])('has %s; the person and the settings see why', async (_, change, problem) => {
    await using remote = await serveSignIn()
    const back = await calls.begin(remote)
    change(back)
    expect((await calls.finish(back)).body).toEqual({ ...signed_in, problem: expect.stringMatching(problem) })
    await signedOut(problem)
  })

  test('is an error, whose text is returned as it is, without control characters', async () => {
    await using remote = await serveSignIn()
    const back = await calls.begin(remote)
    back.searchParams.delete('code')
    back.searchParams.set('error', 'access_denied')
    back.searchParams.set('error_description', '<b>no</b>\u202e\u0007!')
    const problem = 'the authorization server refused it: access_denied: <b>no</b> !'
    expect((await calls.finish(back)).body).toEqual({ ...signed_in, problem })
    expect((await stateOf()).problem).toBe(problem)
  })

  test.each<[string, Behaviour]>([
    ['a short token', { tokens: { access_token: 'a' } }],
    ['a token with a line break', { tokens: { access_token: 'token-of-a-run\r\nX: y' } }],
    ['another type', { tokens: { token_type: 'DPoP' } }],
    [
      'an endless body',
      { before: (request, response) => request.url === '/token' && flood(request, response) },
    ],
    ['a redirect', { before: (q, r) => q.url === '/token' && redirect('http://169.254.169.254/')(q, r) }],
  ])('leads to a token response with %s', async (_, behaviour) => {
    await using remote = await serveSignIn(behaviour)
    expect((await calls.finish(await calls.begin(remote))).body.problem).toBeTypeOf('string')
    await signedOut(/./)
  })

  test('404: was used before, belongs to an earlier link, is too old, or is not ours', async () => {
    await using remote = await serveSignIn()
    const used = await signIn(remote)
    const stored = await calls.stored()
    const refused = async (back: URL) => {
      expectProblem(await calls.view(back), 404)
      expectProblem(await calls.finish(back), 404)
    }
    await refused(used)
    expect(await calls.stored()).toEqual(stored)
    const [first, second] = [await calls.begin(remote), await calls.begin(remote)]
    await refused(first)
    const foreign = new URL(second)
    foreign.searchParams.set('state', `${foreign.searchParams.get('state')?.slice(0, -4)}AAAA`)
    await refused(foreign)
    const now = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(now + 601_000)
    await refused(second)
    vi.restoreAllMocks()
    expect(remote.state.forms).toHaveLength(1)
  })

  test('404: comes after the address of the server has changed', async () => {
    await using remote = await serveSignIn()
    const back = await calls.begin(remote)
    await app.servers.set('tickets', { url: `${remote.url}/v2`, sign_in })
    expect((await calls.finish(back)).status).toBe(404)
    await app.servers.set('tickets', { url: remote.url, sign_in })
    expect((await calls.finish(back)).status).toBe(404)
    expect(remote.state.forms).toEqual([])
    await signedOut(null)
  })
})

test('a changed address ends the sign-in: the access goes to no other address', async () => {
  await using remote = await serveSignIn()
  await signIn(remote)
  await app.servers.set('tickets', { url: remote.url, sign_in, tools: ['search'] })
  expect(await stateOf()).toMatchObject({ status: 'signed_in' })
  await app.servers.set('tickets', { url: 'https://elsewhere.example/mcp', sign_in })
  expect(await stateOf()).toMatchObject({ status: 'signed_out' })
  expect(await calls.stored()).toEqual([])
})

test('403, 404 and 409: only administrators sign in, to servers that exist and have a sign-in', async () => {
  const person = await addPerson(app, 'MEMBER')
  expect((await calls.start(undefined, person.token)).status).toBe(403)
  expect((await calls.start()).status).toBe(404)
  await app.servers.set('tickets', { url: 'https://mcp.example.com/mcp' })
  expect((await calls.start()).status).toBe(409)
})
