import { Agent, get } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../../src/contract/limits.ts'
import { createBareApp } from '../../bare-app.ts'
import { type App, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { sendRaw } from './raw-request.ts'

let app: App
let auth: string
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  auth = `host: localhost\r\nauthorization: Bearer ${app.token}\r\n`
})
afterAll(() => app[Symbol.asyncDispose]())

const me = 'GET /v1/users/me HTTP/1.1\r\n'
const close = 'connection: close\r\n\r\n'
const status = async (request: string) => (await sendRaw(app, request)).map(response => response.status)

describe('headers', () => {
  test('200 with a hundred, 431 with one more, and none is dropped silently', async () => {
    const named = (count: number) => Array.from({ length: count }, (_item, n) => `x${n}: y\r\n`).join('')
    expect(await status(`${me}${auth}${named(limits.headers - 3)}${close}`)).toEqual([200])
    expect(await status(`${me}${auth}${named(limits.headers - 2)}${close}`)).toEqual([431])
    // After Node's own limit, beyond which it ignores headers: 2,000 short ones, and then a second host.
    expect(await status(`${me}${auth}${'a:\r\n'.repeat(2_500)}host: evil.example\r\n${close}`)).toEqual([400])
  })

  test('400 with two Content-Types, because readers differ in their choice', async () => {
    const body = '{"prompt":"x"}'
    const head = `POST /v1/organizations/${app.org_id}/agent/run HTTP/1.1\r\n${auth}content-length: ${body.length}\r\n`
    expect(
      await status(`${head}content-type: application/json\r\ncontent-type: text/plain\r\n${close}${body}`),
    ).toEqual([400])
    expect(await status(`${head}content-type: application/json\r\n${close}${body}`)).toEqual([200])
  })
})

describe('the target', () => {
  test('200 with 8,192 characters, 414 with one more', async () => {
    const requestOfLength = (length: number) => app.call('GET', '/v1/users/me?'.padEnd(length, 'x'))
    expect((await requestOfLength(limits.url_chars)).status).toBe(200)
    expect(expectProblem(await requestOfLength(limits.url_chars + 1), 414).code).toBe('uri_too_long')
  })

  test('200 with 200 query parameters, 400 with one more', async () => {
    const requestWithParameters = (count: number) =>
      app.call('GET', `/v1/users/me?${Array.from({ length: count }, () => 'k=v').join('&')}`)
    expect((await requestWithParameters(limits.query_parameters)).status).toBe(200)
    expectProblem(await requestWithParameters(limits.query_parameters + 1), 400, 'query')
  })
})

describe('pipelined requests', () => {
  test('get responses in order, more than a hundred waiting ones 429, and the connection remains open', async () => {
    const many = limits.waiting_requests + 50
    const responses = await sendRaw(app, `${`${me}${auth}\r\n`.repeat(many)}`.replace(/\r\n$/, close))
    expect(responses).toHaveLength(many)
    const refused = responses.filter(response => response.status === 429)
    expect(responses.filter(response => response.status === 200)).toHaveLength(many - refused.length)
    expect(refused.length).toBeGreaterThan(0)
    expect(responses.slice(0, limits.waiting_requests).every(response => response.status === 200)).toBe(true)
    expect(refused[0]?.headers['retry-after']).toBe('1')
    expect(JSON.parse(refused[0]?.body ?? '')).toMatchObject({ code: 'rate_limited', status_code: 429 })
  })

  test('are not refused when each waits for the previous response, regardless of their number', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const request = () =>
      new Promise((resolve, reject) => {
        const request = get(`${app.base_url}/healthz`, { agent }, response =>
          response.resume().on('end', () => resolve(response.statusCode)),
        )
        request.on('error', reject)
      })
    const responses = await Promise.all(Array.from({ length: 3 * limits.waiting_requests }, request))
    agent.destroy()
    expect(new Set(responses)).toEqual(new Set([200]))
  })
})

describe('F109 slow senders', () => {
  test('are cut off with 408 in the common format of errors, in headers and in the body, while others are served', async () => {
    const { app: built } = await createBareApp(app.db, {
      headersTimeout: 300,
      requestTimeout: 600,
      connectionsCheckingInterval: 50,
    })
    const impatient = { ...app, base_url: await built.listen({ port: 0, host: '127.0.0.1' }) }
    try {
      const create = `POST /v1/organizations/${app.org_id}/agent/run HTTP/1.1\r\n${auth}content-type: application/json\r\n`
      const slow = [
        me,
        `${me}${auth}x-slow: `,
        `${create}content-length: 100\r\n\r\n{"prompt"`,
        `${create}transfer-encoding: chunked\r\n\r\n5\r\n{"pro`,
      ]
      const [responses, other] = await Promise.all([
        Promise.all(slow.map(bytes => sendRaw(impatient, bytes))),
        sendRaw(impatient, `${me}${auth}${close}`),
      ])
      expect(other.map(response => response.status)).toEqual([200])
      for (const [response, ...rest] of responses) {
        expect([response?.status, rest]).toEqual([408, []])
        expect(JSON.parse(response?.body ?? '')).toMatchObject({ code: 'request_timeout', status_code: 408 })
      }
    } finally {
      await built.close()
    }
  })

  test('lose their connection at every path, also where the token is refused before the body has arrived', async () => {
    const { app: built } = await createBareApp(app.db, {
      headersTimeout: 300,
      requestTimeout: 600,
      connectionsCheckingInterval: 50,
    })
    const impatient = { ...app, base_url: await built.listen({ port: 0, host: '127.0.0.1' }) }
    try {
      const run = `/v1/organizations/${app.org_id}/agent/run`
      const paths = ['/mcp', run, `/v1/beta${run.slice(3)}/stop`, '/hooks/1/x', '/session', '/nowhere', '/']
      const oauth = ['/oauth/token', '/oauth/register', '/oauth/revoke']
      const git = ['/git/acme/app.git/git-receive-pack', '/git/acme/app.git/git-upload-pack']
      const bodies = ['content-length: 1000\r\n\r\n{"a"', 'transfer-encoding: chunked\r\n\r\n5\r\n{"pro']
      const heads = ['', 'authorization: Bearer nobody\r\n'].flatMap(token =>
        ['POST', 'PUT', 'GET'].flatMap(method =>
          [...paths, ...oauth, ...git].map(
            path =>
              `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${token}`,
          ),
        ),
      )
      const ended = await Promise.all(
        heads.flatMap(head =>
          bodies.map(async body => ({ head, responses: await sendRaw(impatient, head + body) })),
        ),
      )
      for (const { head, responses } of ended) expect(responses, head).toHaveLength(1)
    } finally {
      await built.close()
    }
  })
})
