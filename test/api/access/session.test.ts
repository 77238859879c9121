import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SessionToken } from '../../../src/contract/service.ts'
import { digest } from '../../../src/core/access/token.ts'
import { type ApiResponse, type App, rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

type GivenRequest = { body?: unknown; cookie?: string; headers?: Record<string, string> }
async function call(
  method: string,
  path: string,
  { body, cookie, headers = {} }: GivenRequest = {},
): Promise<ApiResponse & { set_cookie: string[] }> {
  const response = await fetch(app.base_url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
    set_cookie: response.headers.getSetCookie(),
  }
}
const newCode = async () => new URL(await app.signInLink()).hash.slice('#code='.length)
const signIn = (code: unknown, headers?: Record<string, string>) =>
  call('POST', '/session', { body: { code }, ...(headers && { headers }) })
async function newCookie(): Promise<string> {
  const { set_cookie } = await signIn(await newCode())
  return set_cookie[0]?.split(';')[0] ?? ''
}

describe('POST /session', () => {
  test('200: a sign-in link works once, and sets a cookie that no script reads and no other path is sent', async () => {
    const link = new URL(await app.signInLink())
    expect(link.origin + link.pathname + link.search).toBe(`${app.base_url}/sign-in`)
    const code = link.hash.slice('#code='.length)
    const { status, body, set_cookie } = await signIn(code)
    expect({ status, body }).toEqual({ status: 200, body: { signed_in: true } })
    expect(set_cookie).toHaveLength(1)
    expect(set_cookie[0]).toMatch(
      /^agentrun_session=[\w-]{32}; Path=\/session; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    )
    const again = await signIn(code)
    expectProblem(again, 401)
    expect([again.set_cookie, again.headers.get('www-authenticate')]).toEqual([[], 'Bearer'])
  })

  test('200 for one of twenty parallel uses of a link', async () => {
    const code = await newCode()
    const responses = await Promise.all(Array.from({ length: 20 }, () => signIn(code)))
    expect(responses.map(result => result.status).sort()).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 401),
    ])
  })

  test('400 names the code', async () => {
    for (const code of [undefined, '', 7, 'x'.repeat(201)])
      expectProblem(await signIn(code), 400, 'body.code')
  })

  test('401 for an expired or nonexistent link, with the same message', async () => {
    const code = await newCode()
    await rows(
      app,
      `update sign_in_links
      set expires_at = now() - interval '1 second'
      where digest = $1`,
      [digest(code)],
    )
    const old = expectProblem(await signIn(code), 401)
    const unknown = expectProblem(await signIn('no-such-code'), 401)
    expect({ ...old, request_id: '' }).toEqual({ ...unknown, request_id: '' })
  })

  test('a new link is valid for 15 minutes', async () => {
    await newCode()
    const [link] = await rows<{ seconds: number }>(
      app,
      `select extract(epoch from max(expires_at) - now())::int as seconds
        from sign_in_links`,
    )
    expect(link?.seconds).toBeGreaterThan(14 * 60)
    expect(link?.seconds).toBeLessThanOrEqual(15 * 60)
  })

  test('F125 403 from another site, and the link is not used up', async () => {
    const code = await newCode()
    const { host } = new URL(app.base_url)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}.evil.example` },
      { origin: `http://evil.example#${host}` },
    ] as Record<string, string>[])
      expectProblem(await signIn(code, headers), 403)
    expect((await signIn(code, { origin: app.base_url, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })
})

describe('POST /session/token', () => {
  const token = (given: GivenRequest) => call('POST', '/session/token', given)

  test('200: a bearer token for 15 minutes, shown once and stored as a digest', async () => {
    const cookie = await newCookie()
    const { status, body } = await token({ cookie })
    expect(status).toBe(200)
    const { token: secret, expires_at } = SessionToken.strict().parse(body)
    expect(body).toMatchObject({ user_id: app.user_id, organization_id: app.org_id })
    expect(secret).toMatch(/^arun_b_[0-9A-Za-z]{38}$/)
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 15 * 60_000)).toBeLessThan(60_000)
    const me = () => app.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${secret}` })
    expect((await me()).body).toMatchObject({ id: app.user_id })
    const run = await app.call(
      'POST',
      `/v1/organizations/${app.org_id}/agent/run`,
      { prompt: 'x' },
      { authorization: `Bearer ${secret}` },
    )
    expect(run.body.source_type).toBe('CHAT')
    await rows(app, `update tokens set expires_at = now() where digest = $1`, [digest(secret)])
    expectProblem(await me(), 401)
    expect((await token({ cookie })).body.token).not.toBe(secret)
  })

  test('401 without a live cookie: none, wrong, expired', async () => {
    const cookie = await newCookie()
    for (const bad of [
      undefined,
      '',
      'agentrun_session=',
      'agentrun_session=wrong',
      `x${cookie}`,
      `${cookie}x`,
    ]) {
      const result = await token(bad === undefined ? {} : { cookie: bad })
      expectProblem(result, 401)
    }
    await rows(
      app,
      `update browser_sessions
        set expires_at = now() - interval '1 second'
        where digest = $1`,
      [digest(cookie.split('=')[1] ?? '')],
    )
    expectProblem(await token({ cookie }), 401)
  })

  test('401 for a bearer token instead of the cookie', async () => {
    expectProblem(await token({ headers: { authorization: `Bearer ${app.token}` } }), 401)
  })

  test('403 from another site', async () => {
    const cookie = await newCookie()
    expectProblem(await token({ cookie, headers: { origin: 'http://evil.example' } }), 403)
    expectProblem(await token({ cookie, headers: { 'sec-fetch-site': 'cross-site' } }), 403)
  })
})

describe('DELETE /session', () => {
  test('200: the cookie is void and deleted; a second request has no further effect', async () => {
    const cookie = await newCookie()
    for (let i = 0; i < 2; i++) {
      const { status, body, set_cookie } = await call('DELETE', '/session', { cookie })
      expect({ status, body, set_cookie }).toEqual({
        status: 200,
        body: { signed_in: false },
        set_cookie: ['agentrun_session=; Path=/session; Max-Age=0; HttpOnly; SameSite=Strict'],
      })
    }
    expectProblem(await call('POST', '/session/token', { cookie }), 401)
  })

  test('the bearer tokens of the session end with it, those of another session of the person do not', async () => {
    const [cookie, other] = [await newCookie(), await newCookie()]
    const tokens = await Promise.all(
      [cookie, cookie, other].map(
        async from => (await call('POST', '/session/token', { cookie: from })).body.token,
      ),
    )
    const statuses = () =>
      Promise.all(
        tokens.map(
          async token =>
            (await app.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${token}` })).status,
        ),
      )
    expect(await statuses()).toEqual([200, 200, 200])
    await call('DELETE', '/session', { cookie })
    expect(await statuses()).toEqual([401, 401, 200])
  })

  test('no token that another tab gets at the same time outlives the session', async () => {
    for (let round = 0; round < 10; round++) {
      const cookie = await newCookie()
      const renew = () => call('POST', '/session/token', { cookie })
      await Promise.all([renew(), renew(), call('DELETE', '/session', { cookie }), renew(), renew()])
      const value = cookie.slice(cookie.indexOf('=') + 1)
      expect(
        await rows(app, 'select id from tokens where session_digest = $1 and revoked_at is null', [
          digest(value),
        ]),
      ).toEqual([])
    }
  })

  test('403 from another site, and the session continues', async () => {
    const cookie = await newCookie()
    expectProblem(
      await call('DELETE', '/session', { cookie, headers: { 'sec-fetch-site': 'cross-site' } }),
      403,
    )
    expect((await call('POST', '/session/token', { cookie })).status).toBe(200)
  })
})

test('F125 the cookie opens nothing under /v1', async () => {
  const cookie = await newCookie()
  for (const path of [
    '/v1/users/me',
    '/v1/organizations',
    `/v1/organizations/${app.org_id}/agent/runs`,
    `/v1/organizations/${app.org_id}/events`,
  ])
    expectProblem(await call('GET', path, { cookie }), 401)
  expectProblem(
    await call('POST', `/v1/organizations/${app.org_id}/agent/run`, { cookie, body: { prompt: 'x' } }),
    401,
  )
})

test('behind a proxy with https the cookie is limited to https, and the page is identified by its public address', async () => {
  const port = await freePort()
  await using secure = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_BASE_URL: 'https://runs.example/',
    AGENTRUN_PORT: `${port}`,
  })
  expect(secure.base_url).toBe('https://runs.example')
  const link = new URL(await secure.signInLink())
  expect(link.origin).toBe('https://runs.example')
  const body = JSON.stringify({ code: link.hash.slice('#code='.length) })
  const headers = { 'content-type': 'application/json', origin: 'https://runs.example' }
  const result = await fetch(`http://127.0.0.1:${port}/session`, { method: 'POST', headers, body })
  expect(result.status).toBe(200)
  expect(result.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
})

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    }),
  )
}
