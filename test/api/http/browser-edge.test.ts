import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { tokenCalls } from '../contract/every-endpoint.ts'
import { sendRaw } from './raw-request.ts'

const ORIGIN = 'https://dashboard.example'

let app: App
let open: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  open = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_CORS_ORIGINS: `${ORIGIN}, http://localhost:3000`,
    AGENTRUN_ALLOWED_HOSTS: 'runs.example',
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter(name => name.startsWith('access-control-'))
const preflight = (to: App, origin: string) =>
  fetch(`${to.base_url}/v1/organizations/1/agent/run`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  })

describe('security headers', () => {
  const always = {
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'self'; img-src 'self' data:; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'Authorization, Origin, Accept-Encoding',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  }

  test('F126 are on every response: successes, errors, streams, public pages, unknown paths', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    const good = tokenCalls({
      org_id: app.org_id,
      run_id: id,
      repo_id: app.repo_id,
      user_id: app.user_id,
      pr_id: 1,
      artifact_id: 1,
    })
    const public_pages = ['/healthz', '/readyz', '/openapi.json', '/docs', '/nothing', '/v1/%zz', '/session']
    for (const { method, path, body } of [
      ...good,
      ...public_pages.map(path => ({ method: 'GET', path, body: undefined })),
    ]) {
      const headers = {
        authorization: `Bearer ${app.token}`,
        ...(body && { 'content-type': 'application/json' }),
      }
      const response = await fetch(app.base_url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      expect({ path, ...Object.fromEntries(response.headers) }).toMatchObject(always)
      expect(response.headers.get('server')).toBeNull()
      expect(response.headers.get('x-powered-by')).toBeNull()
      await response.body?.cancel()
    }
  })

  test('every request has a unique id, regardless of the id that the client sends', async () => {
    const requestIds = async () =>
      (
        await app.call('GET', '/v1/users/me', undefined, { 'x-request-id': 'mine', 'request-id': 'mine' })
      ).headers.get('x-request-id')
    const ids = await Promise.all(Array.from({ length: 20 }, requestIds))
    expect(new Set(ids).size).toBe(20)
    expect(ids).not.toContain('mine')
  })
})

describe('another origin', () => {
  test('may call /v1 of a service with the default configuration, without credentials, and sees the headers of limits', async () => {
    for (const origin of [ORIGIN, 'null']) {
      const requested = await preflight(app, origin)
      expect([requested.status, await requested.text()]).toEqual([204, ''])
      expect(Object.fromEntries(requested.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Authorization, Content-Type, traceparent, tracestate, *',
      })
      expect(requested.headers.has('access-control-allow-credentials')).toBe(false)
      const { status, headers } = await app.call('GET', '/v1/users/me', undefined, { origin })
      expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
      expect(headers.has('access-control-allow-credentials')).toBe(false)
      for (const name of [
        'X-Request-Id',
        'Link',
        'Retry-After',
        'Idempotent-Replayed',
        'RateLimit',
        'X-RateLimit-Remaining',
      ])
        expect(headers.get('access-control-expose-headers')?.split(', ')).toContain(name)
    }
    const document = await fetch(`${app.base_url}/openapi.json`, { headers: { origin: ORIGIN } })
    expect([document.status, document.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    await document.body?.cancel()
    for (const path of [
      '/session',
      '/session/token',
      '/git/1/1.git/git-upload-pack',
      '/hooks/github/1',
      '/',
      '/v1/nothing',
    ]) {
      const method = 'OPTIONS'
      const response = await fetch(app.base_url + path, {
        method,
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
      })
      expect({ path, allowed: response.headers.has('access-control-allow-methods') }).toEqual({
        path,
        allowed: false,
      })
      if (path !== '/v1/nothing')
        expect({ path, headers: corsHeaders(response.headers) }).toEqual({ path, headers: [] })
    }
  })

  test('F125 gets no permission if the operator turned it off', async () => {
    await using off = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_CORS_ORIGINS: 'off' })
    const response = await off.call('GET', '/v1/users/me', undefined, { origin: ORIGIN })
    expect([response.status, corsHeaders(response.headers)]).toEqual([200, []])
    expect(corsHeaders((await preflight(off, ORIGIN)).headers)).toEqual([])
  })

  test('gets it if it is configured, never with credentials, also on errors and streams', async () => {
    for (const origin of [ORIGIN, 'http://localhost:3000']) {
      const requested = await preflight(open, origin)
      expect([requested.status, requested.headers.get('access-control-allow-origin')]).toEqual([204, origin])
      expect(requested.headers.has('access-control-allow-credentials')).toBe(false)
      for (const [path, status] of [
        ['/v1/users/me', 200],
        ['/v1/organizations/0/repos', 403],
        [`/v1/organizations/${open.org_id}/events`, 200],
      ] as const) {
        const response = await fetch(open.base_url + path, {
          headers: { origin, authorization: `Bearer ${open.token}` },
        })
        expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
          status,
          origin,
        ])
        expect(response.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
        expect(response.headers.has('access-control-allow-credentials')).toBe(false)
        await response.body?.cancel()
      }
    }
  })

  test('that only resembles a configured one gets none', async () => {
    for (const origin of [
      `${ORIGIN}.evil.example`,
      'http://dashboard.example',
      `${ORIGIN}:8443`,
      `${ORIGIN}/`,
      'https://x.dashboard.example',
      'null',
      ORIGIN.toUpperCase(),
    ]) {
      expect({ origin, headers: corsHeaders((await preflight(open, origin)).headers) }).toEqual({
        origin,
        headers: [],
      })
    }
  })
})

describe('the Host header', () => {
  const requestWithHost = async (to: App, host: string) =>
    (
      await sendRaw(
        to,
        `GET /v1/users/me HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${to.token}\r\nconnection: close\r\n\r\n`,
      )
    )[0]

  test('F125 must be a name of the service: a page whose own name resolves to our address is refused', async () => {
    for (const host of [
      'evil.example',
      'evil.example:4600',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '0.0.0.0',
      'runs.example',
      'localhost.',
      '[::2]',
      'a@localhost',
    ]) {
      const response = await requestWithHost(app, host)
      expect({ host, status: response?.status }).toEqual({ host, status: 403 })
      expect(JSON.parse(response?.body ?? '')).toMatchObject({ code: 'forbidden', status: 403 })
    }
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:4600', '[::1]', '[::1]:4600'])
      expect({ host, status: (await requestWithHost(app, host))?.status }).toEqual({ host, status: 200 })
  })

  test('may be one that the operator configured', async () => {
    expect((await requestWithHost(open, 'Runs.Example:443'))?.status).toBe(200)
    expect((await requestWithHost(open, 'localhost'))?.status).toBe(200)
    expect((await requestWithHost(open, 'x.runs.example'))?.status).toBe(403)
  })

  test('is checked first, also on public paths', async () => {
    const [response] = await sendRaw(
      app,
      'GET /healthz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    )
    expect(response?.status).toBe(403)
  })
})
