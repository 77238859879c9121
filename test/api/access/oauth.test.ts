import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, rows, startApp } from '../../start-app.ts'
import { addPerson } from '../members/people.ts'

let app: App
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_OAUTH_REDIRECT_HOSTS: 'client.example',
    AGENTRUN_LIMIT_FAILED_TOKENS: 'off',
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const CALLBACK = 'http://127.0.0.1:5000/callback'
const VERIFIER = 'v'.repeat(43)
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
const scopes = ['runs:read', 'logs:read']

const register = (body: unknown) => app.call('POST', '/oauth/register', body, { authorization: '' })
async function clientOf(redirect_uri = CALLBACK, client_name = 'Claude Code'): Promise<string> {
  const { status, body } = await register({ redirect_uris: [redirect_uri], client_name })
  expect(status).toBe(201)
  return body.client_id
}
const authorize = (body: object, token = app.token) =>
  app.call(
    'POST',
    `/v1/organizations/${app.org_id}/oauth/authorizations`,
    {
      redirect_uri: CALLBACK,
      code_challenge: challengeOf(VERIFIER),
      code_challenge_method: 'S256',
      scopes,
      ...body,
    },
    { authorization: `Bearer ${token}` },
  )
async function codeFor(client_id: string, body: object = {}, token = app.token): Promise<string> {
  const allowed = await authorize({ client_id, ...body }, token)
  expect(allowed.status).toBe(200)
  return new URL(allowed.body.redirect_to).searchParams.get('code') ?? ''
}
async function exchange(fields: Record<string, string>) {
  const form = {
    grant_type: 'authorization_code',
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...fields,
  }
  const response = await fetch(`${app.base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}
const expireLast = () =>
  rows(
    app,
    `update authorization_codes
      set expires_at = now() - interval '1 second'
      where token_id = (select max(token_id) from authorization_codes)`,
  )
const liveTokens = async () =>
  (
    await rows(
      app,
      `select name
        from tokens
        where name like '%(OAuth)' and revoked_at is null and expires_at > now()`,
    )
  ).length

test('200: a code is exchanged once, for a token with the allowed scopes that expires', async () => {
  const client_id = await clientOf()
  const code = await codeFor(client_id, { state: 'a b&c' })
  const { status, headers, body } = await exchange({ client_id, code })
  expect({ status, cached: headers.get('cache-control') }).toEqual({ status: 200, cached: 'no-store' })
  expect(body).toEqual({
    access_token: expect.stringMatching(/^arun_p_/),
    token_type: 'Bearer',
    expires_in: expect.any(Number),
    scope: 'runs:read logs:read',
  })
  expect(body.expires_in).toBeGreaterThan(29 * 86_400)
  const token = { authorization: `Bearer ${body.access_token}` }
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`, undefined, token)).status).toBe(
    200,
  )
  expect(
    (await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x' }, token)).status,
  ).toBe(403)
})

test.each([
  ['the same request', {}],
  ['another secret', { code_verifier: 'w'.repeat(43) }],
  ['another address', { redirect_uri: 'http://127.0.0.1:5001/callback' }],
])(
  'a used code that is presented again by %s revokes its token, whenever that is, and no other',
  async (_what, changed) => {
    const client_id = await clientOf()
    const before = await liveTokens()
    const code = await codeFor(client_id)
    expect((await exchange({ client_id, code })).status).toBe(200)
    await expireLast()
    expect((await exchange({ client_id, code: await codeFor(client_id) })).status).toBe(200)
    expect(await liveTokens()).toBe(before + 2)
    expect(await exchange({ client_id, code, ...changed })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(await liveTokens()).toBe(before + 1)
    await codeFor(client_id)
    expect(
      await rows(
        app,
        `select 1
          from authorization_codes
          join tokens t on t.id = token_id
          where t.revoked_at is not null`,
      ),
    ).toEqual([])
  },
)

test('of two requests with one code at the same time, one gets a token, which the other revokes', async () => {
  const client_id = await clientOf()
  const before = await liveTokens()
  const code = await codeFor(client_id)
  const both = await Promise.all([exchange({ client_id, code }), exchange({ client_id, code })])
  expect([both.map(({ status }) => status).sort(), await liveTokens()]).toEqual([[200, 400], before])
})

test('the response to the program has its state and the issuer, and keeps the query of its address', async () => {
  const uri = 'https://client.example/callback?kind=mcp'
  const client_id = await clientOf(uri)
  const { body } = await authorize({ client_id, redirect_uri: uri, state: 'a b&c' })
  const to = new URL(body.redirect_to)
  expect(to.origin + to.pathname).toBe('https://client.example/callback')
  expect(Object.fromEntries(to.searchParams)).toEqual({
    kind: 'mcp',
    code: expect.any(String),
    state: 'a b&c',
    iss: app.base_url,
  })
})

describe('a code gives nothing', () => {
  test.each<
    [
      string,
      (code: { client_id: string; code: string }) => Record<string, string> | Promise<Record<string, string>>,
    ]
  >([
    ['with another secret', code => ({ ...code, code_verifier: 'w'.repeat(43) })],
    ['to another client', async code => ({ ...code, client_id: await clientOf(CALLBACK, 'Another') })],
    ['for another address', code => ({ ...code, redirect_uri: 'http://127.0.0.1:5001/callback' })],
  ])('%s, and its token is revoked', async (_how, changed) => {
    const client_id = await clientOf()
    const before = await liveTokens()
    const code = await codeFor(client_id)
    expect(await liveTokens()).toBe(before + 1)
    expect(await exchange(await changed({ client_id, code }))).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect(await liveTokens()).toBe(before)
    expect(await exchange({ client_id, code })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
  })

  test('after a minute, and the next sign-in revokes its token', async () => {
    const client_id = await clientOf()
    const before = await liveTokens()
    const code = await codeFor(client_id)
    await expireLast()
    expect(await exchange({ client_id, code })).toMatchObject({ body: { error: 'invalid_grant' } })
    await codeFor(client_id)
    await expireLast()
    await codeFor(client_id)
    expect(await liveTokens()).toBe(before + 1)
  })

  test('for another resource, or when the person left meanwhile', async () => {
    const client_id = await clientOf()
    const code = await codeFor(client_id)
    expect(await exchange({ client_id, code, resource: 'https://other.example' })).toMatchObject({
      body: { error: 'invalid_grant' },
    })
    expect(await exchange({ client_id, code })).toMatchObject({ body: { error: 'invalid_grant' } })
    const before = await liveTokens()
    const replayed = await codeFor(client_id)
    expect(await exchange({ client_id, code: replayed })).toMatchObject({ status: 200 })
    expect(await liveTokens()).toBe(before + 1)
    await exchange({ client_id, code: replayed, resource: 'https://other.example' })
    expect(await liveTokens()).toBe(before)
    const person = await addPerson(app, 'MEMBER')
    const theirs = await codeFor(client_id, {}, person.token)
    await app.call('DELETE', `/v1/organizations/${app.org_id}/members/${person.user_id}`)
    expect(await exchange({ client_id, code: theirs })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
  })
})

test.each([
  ['javascript:alert(1)', 'must be http on this computer'],
  ['data:text/html,x', 'must be http on this computer'],
  ['http://evil.example/callback', 'must be http on this computer'],
  ['http://127.0.0.1.evil.example/callback', 'must be http on this computer'],
  ['https://evil.example/callback', 'AGENTRUN_OAUTH_REDIRECT_HOSTS'],
  ['https://client.example.evil.example/', 'AGENTRUN_OAUTH_REDIRECT_HOSTS'],
  ['https://client.example@evil.example/', 'must contain no credentials'],
  ['http://127.0.0.1:1/callback#part', 'must have no fragment'],
  ['/callback', 'must be an absolute address'],
  ['https://client.example:8443/callback', 'AGENTRUN_OAUTH_REDIRECT_HOSTS'],
  ['vscode://vscode.git/clone?url=https://evil.example', 'must be http on this computer'],
  ['cursor://anysphere.cursor-deeplink/mcp/install?name=x', 'must be http on this computer'],
])('a program cannot register %s', async (uri, reason) => {
  const { status, body } = await register({ redirect_uris: [uri] })
  expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_redirect_uri' })
  expect(body.error_description).toContain('redirect_uris.0')
  expect(body.error_description).toContain(reason)
  const beside = await register({ redirect_uris: [uri, CALLBACK] })
  expect(beside).toMatchObject({ status: 201, body: { redirect_uris: [CALLBACK] } })
  const { client_id } = beside.body
  expect((await authorize({ client_id, redirect_uri: uri })).body.errors[0]).toMatchObject({
    loc: ['body', 'redirect_uri'],
  })
})

test('an editor that also runs on the web signs in from this computer', async () => {
  const on_the_web = ['https://insiders.editor.example/redirect', 'https://editor.example/redirect']
  const { body } = await register({
    redirect_uris: [...on_the_web, 'http://127.0.0.1/', 'http://127.0.0.1:33418/'],
    client_name: 'An editor',
  })
  expect(body.redirect_uris).toEqual(['http://127.0.0.1/', 'http://127.0.0.1:33418/'])
  expect(
    (await authorize({ client_id: body.client_id, redirect_uri: 'http://127.0.0.1:61234/' })).status,
  ).toBe(200)
})

test.each([
  [{ redirect_uris: [] }, 'redirect_uris: must contain an address'],
  [{}, 'redirect_uris: must be a list of addresses'],
  [[], 'body'],
  [{ redirect_uris: Array(11).fill(CALLBACK) }, 'redirect_uris: must contain at most 10'],
  [{ redirect_uris: [CALLBACK], client_name: 5 }, 'client_name'],
])('a registration %j is refused', async (body, reason) => {
  const refused = await register(body)
  expect(refused.status).toBe(400)
  expect(refused.body.error_description).toContain(reason)
})

test('the address of Cursor is accepted, and on this computer any port', async () => {
  for (const uri of ['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost/x'])
    expect((await register({ redirect_uris: [uri] })).status).toBe(201)
  const client_id = await clientOf('http://localhost/callback')
  expect((await authorize({ client_id, redirect_uri: 'http://localhost:61234/callback' })).status).toBe(200)
  for (const redirect_uri of [
    'http://localhost:61234/other',
    'http://127.0.0.1/callback',
    'http://localhost:1/callback?x=1',
  ])
    expect((await authorize({ client_id, redirect_uri })).body.errors[0]).toMatchObject({
      loc: ['body', 'redirect_uri'],
    })
})

test.each([
  [{ client_id: 'none' }, 'client_id'],
  [{ client_id: `${'a'.repeat(16)}.${'A'.repeat(80)}` }, 'client_id'],
  [{ redirect_uri: 'https://evil.example/' }, 'redirect_uri'],
  [{ code_challenge: 'short' }, 'code_challenge'],
  [{ code_challenge_method: 'plain' }, 'code_challenge_method'],
  [{ scopes: [] }, 'scopes'],
  [{ scopes: ['everything'] }, 'scopes'],
  [{ resource: 'https://other.example/mcp' }, 'resource'],
  [{ state: 's'.repeat(2_001) }, 'state'],
])('a person cannot allow %j', async (wrong, field) => {
  const { status, body } = await authorize({ client_id: await clientOf(), ...wrong })
  expect({ status, field: body.errors?.[0].loc[1] }).toEqual({ status: 400, field })
})

test('a program gets no more than the person has', async () => {
  const person = await addPerson(app, 'MEMBER')
  const refused = await authorize(
    { client_id: await clientOf(), scopes: ['runs:read', 'org:admin'] },
    person.token,
  )
  expect({ status: refused.status, field: refused.body.errors[0].loc }).toEqual({
    status: 403,
    field: ['body', 'scopes'],
  })
})

test.each<[Record<string, string>, string]>([
  [{ grant_type: 'refresh_token' }, 'unsupported_grant_type'],
  [{ code_verifier: 'short' }, 'invalid_request'],
  [{ code: '' }, 'invalid_request'],
  [{ code: 'unknown' }, 'invalid_grant'],
  [{ client_id: 'unknown' }, 'invalid_grant'],
])('an exchange with %j is refused', async (wrong, error) => {
  const client_id = await clientOf()
  expect(await exchange({ client_id, code: 'x', ...wrong })).toMatchObject({ status: 400, body: { error } })
})

test('a repeated field, another content type and a large form are refused', async () => {
  const send = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${app.base_url}/oauth/token`, { method: 'POST', headers: { 'content-type': type }, body })
  expect(await (await send('grant_type=authorization_code&code=a&code=b')).json()).toMatchObject({
    error: 'invalid_request',
  })
  expect((await send('<xml/>', 'application/xml')).status).toBe(415)
  expect((await send(`code=${'x'.repeat(40_000)}`)).status).toBe(413)
  expect((await send('%%%=%E0%A4%A')).status).toBe(400)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(
    (await fetch(`${app.base_url}/oauth/register`, { method: 'POST', headers: form, body: 'a=b' })).status,
  ).toBe(415)
})
