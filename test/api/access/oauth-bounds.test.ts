import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_LIMIT_FAILED_TOKENS: '3/60' })
})
afterAll(() => app[Symbol.asyncDispose]())

const CALLBACK = 'http://127.0.0.1:5000/callback'
const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
  fetch(app.base_url + path, { method: 'POST', headers: { 'content-type': type }, body })
const bounds = [
  ['/oauth/token', 'application/json'],
  ['/oauth/token', 'application/x-www-form-urlencoded'],
  ['/oauth/register', 'application/json'],
  ['/session', 'application/json'],
  ['/session/token', 'application/json'],
  ['/session/invitation', 'application/json'],
  ['/session/invitation/accept', 'application/json'],
] as const

test.each(bounds)('%s takes at most 16 KiB of %s, because anybody may send it', async (path, type) => {
  expect((await post(path, `"${'x'.repeat(16_384)}"`, type)).status).toBe(413)
})

test('a form with many names has no field', async () => {
  const names = Array.from({ length: 3_000 }, (_, n) => `${n.toString(36)}=`).join('&')
  const response = await post('/oauth/token', `grant_type=authorization_code&${names}`)
  expect(await response.json()).toMatchObject({ error: 'unsupported_grant_type' })
})

test('a body of more values than any request needs is refused before it is parsed', async () => {
  const { status, body } = await app.call(
    'POST',
    `/v1/organizations/${app.org_id}/agent/run`,
    Array(50_000).fill(0),
  )
  expect({ status, errors: body.errors }).toMatchObject({
    status: 400,
    errors: [{ loc: ['body'], msg: 'has more than 50000 values' }],
  })
})

test('a registration whose id would be too long is refused', async () => {
  const redirect_uris = Array.from({ length: 10 }, (_, n) => `${CALLBACK}/${n}${'x'.repeat(100)}`)
  const { status, body } = await app.call('POST', '/oauth/register', { redirect_uris }, { authorization: '' })
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { error: 'invalid_redirect_uri', error_description: expect.stringContaining('too long together') },
  })
})

test.each(['/oauth/token', '/oauth/register', '/.well-known/oauth-authorization-server'])(
  '%s names its methods',
  async path => {
    const { status, headers } = await app.call('DELETE', path)
    const allowed = path.startsWith('/oauth') ? 'POST' : 'GET, HEAD'
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: allowed })
  },
)

test('a program creates no tokens with the one that it was given, and names itself in the list and in the audit log', async () => {
  const verifier = 'v'.repeat(43)
  const { client_id } = (
    await app.call('POST', '/oauth/register', { redirect_uris: [CALLBACK], client_name: 'Editor' })
  ).body
  const organization = `/v1/organizations/${app.org_id}`
  const pkce = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const request = {
    client_id,
    redirect_uri: CALLBACK,
    ...pkce,
    scopes: ['runs:read', 'runs:write', 'org:admin'],
  }
  const allowed = await app.call('POST', `${organization}/oauth/authorizations`, request)
  const code = new URL(allowed.body.redirect_to).searchParams.get('code') ?? ''
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  }
  const { access_token } = (await (await post('/oauth/token', `${new URLSearchParams(form)}`)).json()) as {
    access_token: string
  }
  const token = { authorization: `Bearer ${access_token}` }
  for (const [path, body] of [
    ['/tokens', { name: 'CI' }],
    ['/oauth/authorizations', request],
  ] as const)
    expect((await app.call('POST', organization + path, body, token)).body).toMatchObject({
      status: 403,
      detail: expect.stringContaining('cannot create tokens'),
    })
  const { items } = (await app.call('GET', `${organization}/tokens`)).body
  expect(items[0]).toMatchObject({ name: 'Editor (OAuth)', oauth_client: 'Editor' })
  const log = (await app.call('GET', `${organization}/audit-log?action=token.created`)).body
  expect(log.items[0].detail).toMatchObject({ program: { name: 'Editor', redirect_uri: CALLBACK } })
})

test('wrong codes of one address are limited', async () => {
  const form = {
    grant_type: 'authorization_code',
    client_id: 'x',
    redirect_uri: CALLBACK,
    code_verifier: 'v'.repeat(43),
  }
  const attempt = async (code: string) =>
    (await post('/oauth/token', `${new URLSearchParams({ ...form, code })}`)).status
  const statuses = []
  for (const code of ['wrong', 'w'.repeat(32), 'x', 'y', 'z']) statuses.push(await attempt(code))
  expect(statuses).toEqual([400, 400, 400, 429, 429])
})
