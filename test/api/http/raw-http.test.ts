import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Problem } from '../../../src/contract/error-codes.ts'
import { request_timeouts } from '../../../src/http/server.ts'
import { createBareApp } from '../../bare-app.ts'
import { type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { type RawResponse, sendRaw } from './raw-request.ts'

let app: App
let auth: string
let create: string
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  auth = `host: localhost\r\nauthorization: Bearer ${app.token}\r\n`
  create = `/v1/organizations/${app.org_id}/agent/run`
})
afterAll(() => app[Symbol.asyncDispose]())

function expectRefusal(response: RawResponse | undefined, status: number) {
  expect(response?.status).toBe(status)
  const problem = Problem.strict().parse(JSON.parse(response?.body ?? ''))
  expect(problem).toMatchObject({ status, type: `${app.base_url}/docs/errors#${problem.code}` })
  expect(response?.headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': problem.request_id,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringContaining("default-src 'self'"),
  })
}

describe('F108 an invalid or ambiguous request is refused in the common format of errors', () => {
  const get = (rest: string, line = 'GET /v1/users/me HTTP/1.1') => `${line}\r\n${rest}\r\n`
  const post = (rest: string, body: string) =>
    `POST ${create} HTTP/1.1\r\n${auth}content-type: application/json\r\n${rest}\r\n${body}`
  const close = 'connection: close\r\n'
  const body = '{"prompt":"x"}'
  const cases: [string, () => string | Buffer, number][] = [
    ['two Host headers', () => get(`host: localhost\r\n${auth}${close}`), 400],
    ['two different Host headers', () => get(`host: evil.example\r\n${auth}${close}`), 400],
    ['no Host header', () => get(`authorization: Bearer ${app.token}\r\n${close}`), 400],
    ['an empty Host header', () => get(`host:\r\nauthorization: Bearer ${app.token}\r\n${close}`), 403],
    [
      'a target with another host',
      () => get(`${auth}${close}`, 'GET http://evil.example/v1/users/me HTTP/1.1'),
      400,
    ],
    ['a target with our host', () => get(`${auth}${close}`, 'GET http://localhost/healthz HTTP/1.1'), 400],
    ['the target *', () => get(`${auth}${close}`, 'OPTIONS * HTTP/1.1'), 400],
    ['an escape that is none', () => get(`${auth}${close}`, 'GET /v1/%zz HTTP/1.1'), 400],
    ['a cut escape', () => get(`${auth}${close}`, 'GET /v1/% HTTP/1.1'), 400],
    [
      'an escape that is not UTF-8',
      () => get(`${auth}${close}`, 'GET /v1/organizations/%ff/repos HTTP/1.1'),
      400,
    ],
    ['a path of raw UTF-8', () => get(`${auth}${close}`, 'GET /v1/é HTTP/1.1'), 400],
    ['a NUL in the path', () => get(`${auth}${close}`, 'GET /v1/\0 HTTP/1.1'), 400],
    ['a NUL in a header', () => get(`${auth}x: a\0b\r\n${close}`), 400],
    ['a bare line feed', () => `GET /v1/users/me HTTP/1.1\n${auth.replaceAll('\r', '')}\n`, 400],
    ['a bare line feed within', () => get(`${auth}x: a\ny: b\r\n${close}`), 400],
    ['a bare carriage return', () => get(`${auth}x: a\rb\r\n${close}`), 400],
    ['a folded header', () => get(`${auth}x: a\r\n b\r\n${close}`), 400],
    ['a blank before the colon', () => get(`${auth}x : a\r\n${close}`), 400],
    ['a header without colon', () => get(`${auth}x\r\n${close}`), 400],
    ['headers over 16 KiB', () => get(`${auth}x: ${'a'.repeat(17_000)}\r\n${close}`), 431],
    ['a path over 16 KiB', () => get(`${auth}${close}`, `GET /v1/${'a'.repeat(17_000)} HTTP/1.1`), 431],
    ['2,000 headers', () => get(`${auth}${'x: y\r\n'.repeat(4_000)}${close}`), 431],
    [
      'both lengths',
      () => post('content-length: 14\r\ntransfer-encoding: chunked\r\n', `e\r\n${body}\r\n0\r\n\r\n`),
      400,
    ],
    ['two lengths', () => post('content-length: 14\r\ncontent-length: 5\r\n', body), 400],
    ['a list of lengths', () => post('content-length: 14, 14\r\n', body), 400],
    ['a negative length', () => post('content-length: -1\r\n', body), 400],
    ['a length in hexadecimal', () => post('content-length: 0xe\r\n', body), 400],
    ['a length with a sign', () => post('content-length: +14\r\n', body), 400],
    ['a length of 30 digits', () => post(`content-length: ${'9'.repeat(30)}\r\n`, body), 400],
    ['another transfer coding', () => post('transfer-encoding: gzip\r\n', body), 400],
    [
      'chunked, but not last',
      () => post('transfer-encoding: chunked, gzip\r\n', `e\r\n${body}\r\n0\r\n\r\n`),
      400,
    ],
    [
      'a chunk whose size is none',
      () => post(`${close}transfer-encoding: chunked\r\n`, `xyz\r\n${body}\r\n0\r\n\r\n`),
      400,
    ],
    [
      'a chunk longer than its declared size',
      () => post(`${close}transfer-encoding: chunked\r\n`, `2\r\n${body}\r\n0\r\n\r\n`),
      400,
    ],
    [
      'chunk extensions without end',
      () => post(`${close}transfer-encoding: chunked\r\n`, `e;${'a'.repeat(20_000)}\r\n`),
      413,
    ],
    ['TRACE', () => get(`${auth}${close}`, 'TRACE /v1/users/me HTTP/1.1'), 405],
    ['CONNECT', () => get(auth, 'CONNECT evil.example:443 HTTP/1.1'), 405],
    ['a method of nobody', () => get(`${auth}${close}`, 'BREW /v1/users/me HTTP/1.1'), 400],
    ['the method QUERY', () => get(`${auth}${close}`, 'QUERY /v1/users/me HTTP/1.1'), 405],
    ['a method of another protocol', () => get(`${auth}${close}`, 'PROPFIND /v1/users/me HTTP/1.1'), 405],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/0.9', () => 'GET /v1/users/me\r\n\r\n', 400],
    ['HTTP/3.0', () => get(`${auth}${close}`, 'GET /v1/users/me HTTP/3.0'), 400],
    ['a TLS hello', () => Buffer.from('16030100a5010000a1030300', 'hex'), 400],
    ['an expectation of nobody', () => get(`${auth}expect: tea\r\n${close}`), 417],
  ]
  test.each(cases)('%s', async (_, request, status) => {
    const before = await contents(app)
    const [response, ...rest] = await sendRaw(app, request())
    expectRefusal(response, status)
    expect(rest).toEqual([])
    expect(await contents(app)).toEqual(before)
  })
})

describe('unusual but valid requests are served', () => {
  const me = `GET /v1/users/me HTTP/1.1\r\n`
  test('HTTP/1.0', async () => {
    const [response, ...rest] = await sendRaw(app, `GET /v1/users/me HTTP/1.0\r\n${auth}\r\n`)
    expect([response?.status, response?.headers.connection, rest]).toEqual([200, 'close', []])
  })

  test('F111 pipelined requests get responses in their order, each with its own authorization', async () => {
    const nobody = 'host: localhost\r\n'
    const responses = await sendRaw(
      app,
      `${me}${auth}\r\n${me}${nobody}\r\nGET /healthz HTTP/1.1\r\n${nobody}\r\n${me}${auth}connection: close\r\n\r\n`,
    )
    expect(responses.map(response => response.status)).toEqual([200, 401, 200, 200])
    expect(JSON.parse(responses[3]?.body ?? '')).toMatchObject({ id: app.user_id })
  })

  test('a GET with a body, which is neither read nor taken for the next request', async () => {
    const smuggled = `DELETE /session HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const responses = await sendRaw(
      app,
      `${me}${auth}content-length: ${smuggled.length}\r\n\r\n${smuggled}${me}${auth}connection: close\r\n\r\n`,
    )
    expect(responses.map(response => response.status)).toEqual([200, 200])
  })

  test('an unsupported upgrade is handled as a plain request', async () => {
    const [response] = await sendRaw(
      app,
      `${me}${auth}connection: upgrade, close\r\nupgrade: websocket\r\n\r\n`,
    )
    expect(response?.status).toBe(200)
  })

  test('a body in chunks of one byte, and one that waits for 100', async () => {
    const body = '{"prompt":"x"}'
    const head = `POST ${create} HTTP/1.1\r\n${auth}content-type: application/json\r\nconnection: close\r\n`
    const chunks = [...body].map(char => `1;ext=1\r\n${char}\r\n`).join('')
    expect(
      (await sendRaw(app, `${head}transfer-encoding: chunked\r\n\r\n${chunks}0\r\ntrailer: x\r\n\r\n`))[0]
        ?.status,
    ).toBe(200)
    expect(
      (await sendRaw(app, `${head}expect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n${body}`))[0]
        ?.status,
    ).toBe(200)
  })
})

test('the service survives a thousand malformed connections', async () => {
  const noise = Array.from({ length: 1_000 }, (_, i) =>
    Buffer.from(`${'\x00\xffGET / POST'.repeat(i % 7)}\r\n\r\n${i}`, 'latin1'),
  )
  for (let i = 0; i < noise.length; i += 100)
    await Promise.all(noise.slice(i, i + 100).map(bytes => sendRaw(app, [bytes, '\r\n\r\n'])))
  expect((await app.call('GET', '/v1/users/me')).status).toBe(200)
})

test('F109 two hundred connections that send a byte and wait do not block others', async () => {
  const { hostname, port } = new URL(app.base_url)
  const slow = Array.from({ length: 200 }, () => connect({ host: hostname, port: Number(port) }))
  await Promise.all(slow.map(socket => once(socket, 'connect')))
  for (const socket of slow) socket.on('error', () => {}).write('G')
  expect(
    (await Promise.all(Array.from({ length: 20 }, () => app.call('GET', '/v1/users/me')))).map(
      response => response.status,
    ),
  ).toEqual(Array.from({ length: 20 }, () => 200))
  for (const socket of slow) socket.destroy()
})

test('F109 slow clients have 10 seconds for headers and 30 for a request, checked every 2', async () => {
  const { app: built } = await createBareApp(app.db)
  expect(built.server).toMatchObject({ headersTimeout: 10_000, connectionsCheckingInterval: 2_000 })
  expect(request_timeouts.requestTimeout).toBe(30_000)
  await built.close()
})
