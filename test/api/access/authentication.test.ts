import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest, newToken } from '../../../src/core/access/token.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { type Call, tokenCalls } from '../contract/every-endpoint.ts'
import { expectProblem } from '../expect-problem.ts'
import { sendRaw } from '../http/raw-request.ts'

let app: App
let calls: Call[]
let good: string
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  calls = tokenCalls({
    org_id: app.org_id,
    run_id: id,
    repo_id: app.repo_id,
    user_id: app.user_id,
    pr_id: 1,
    artifact_id: 1,
  })
  good = await addToken(null)
})
afterAll(() => app[Symbol.asyncDispose]())

async function addToken(expires_in_seconds: number | null): Promise<string> {
  const token = newToken('p')
  await insertToken(app.db, {
    user_id: app.user_id,
    kind: 'personal',
    name: 't',
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds,
  })
  return token
}
async function revoked(): Promise<string> {
  const token = await addToken(null)
  await rows(app, 'update tokens set revoked_at = now() where digest = $1', [digest(token)])
  return token
}
const flipped = (token: string, at: number) =>
  token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)

async function request({ method, path, body }: Call, authorization?: string) {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(authorization !== undefined && { authorization }),
  }
  const response = await fetch(app.base_url + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

describe('401', () => {
  test('F94 F95 every endpoint refuses every kind of missing or invalid token with the same message, and writes nothing', async () => {
    const session = await app.signInLink()
    const forms: [string, string | undefined][] = [
      ['none', undefined],
      ['empty', ''],
      ['scheme alone', 'Bearer'],
      ['scheme and blank', 'Bearer '],
      ['Basic', `Basic ${Buffer.from(`x:${app.token}`).toString('base64')}`],
      ['another scheme', `Token ${app.token}`],
      ['no scheme', app.token],
      ['unknown', 'Bearer some-token-that-nobody-ever-made'],
      ['ours, but never made', `Bearer ${newToken('p')}`],
      ['a flipped character', `Bearer ${flipped(good, 12)}`],
      ['a flipped checksum', `Bearer ${flipped(good, good.length - 1)}`],
      ["the operator's with a flipped character", `Bearer ${flipped(app.token, 5)}`],
      ['lower case', `Bearer ${good.toLowerCase()}`],
      ['upper case', `Bearer ${app.token.toUpperCase()}`],
      ['cut', `Bearer ${good.slice(0, -1)}`],
      ['longer', `Bearer ${good}0`],
      ['two in one header', `Bearer ${good}, Bearer ${good}`],
      ['two tokens', `Bearer ${good} ${good}`],
      ['in quotes', `Bearer "${good}"`],
      ['of 12,000 characters', `Bearer ${'x'.repeat(12_000)}`],
      ['expired', `Bearer ${await addToken(-1)}`],
      ['revoked', `Bearer ${await revoked()}`],
      ['a sign-in code', `Bearer ${new URL(session).hash.slice('#code='.length)}`],
      ['its own digest', `Bearer ${digest(good).toString('hex')}`],
    ]
    const before = await contents(app)
    const words = new Set<string>()
    for (const call of calls)
      for (const [form, authorization] of forms) {
        const result = await request(call, authorization)
        expect({ call: call.name, form, status: result.status }).toEqual({
          call: call.name,
          form,
          status: 401,
        })
        expect(result.headers.get('www-authenticate')).toBe('Bearer')
        const problem = expectProblem(result, 401)
        words.add(JSON.stringify({ ...problem, request_id: '', instance: '' }))
      }
    expect(words.size).toBe(1)
    expect(await contents(app)).toEqual(before)
  })

  test('F94 a token in the query or in a cookie is ignored', async () => {
    for (const { method, path } of calls.filter(call => call.method === 'GET')) {
      const result = await fetch(`${app.base_url}${path}?token=${good}&access_token=${good}`, {
        method,
        headers: { cookie: `token=${good}` },
      })
      expect(result.status).toBe(401)
      await result.body?.cancel()
    }
  })

  test('F95 two Authorization headers are refused, even if both are valid', async () => {
    const line = `authorization: Bearer ${good}\r\n`
    const [result] = await sendRaw(
      app,
      `GET /v1/users/me HTTP/1.1\r\nhost: localhost\r\n${line}${line}connection: close\r\n\r\n`,
    )
    expect(result?.status).toBe(401)
    const [single] = await sendRaw(
      app,
      `GET /v1/users/me HTTP/1.1\r\nhost: localhost\r\n${line}connection: close\r\n\r\n`,
    )
    expect(single?.status).toBe(200)
  })

  test('comes before every other error of the request, and the body is not read', async () => {
    const [first] = calls
    const path = first?.path ?? ''
    for (const body of ['{', 'x'.repeat(100), '{"prompt":7}']) {
      const result = await fetch(app.base_url + path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'text/plain' },
      })
      expect(result.status).toBe(401)
    }
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n`
    expect((await sendRaw(app, head)).map(result => result.status)).toEqual([401])
    expect((await fetch(`${app.base_url}/v1/organizations/one/repos?limit=0`)).status).toBe(401)
  })

  test('F114 begins with the first request after the revocation or expiry', async () => {
    const token = await addToken(3_600)
    const me = () => app.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${token}` })
    expect((await me()).status).toBe(200)
    await rows(app, 'update tokens set revoked_at = now() where digest = $1', [digest(token)])
    expectProblem(await me(), 401)
    await rows(app, 'update tokens set revoked_at = null where digest = $1', [digest(token)])
    expect((await me()).status).toBe(200)
    await rows(
      app,
      `update tokens
      set expires_at = now() - interval '1 millisecond'
      where digest = $1`,
      [digest(token)],
    )
    expectProblem(await me(), 401)
  })
})

describe('200', () => {
  test('the scheme is case-insensitive', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(
        (await app.call('GET', '/v1/users/me', undefined, { authorization: `${scheme} ${good}` })).status,
      ).toBe(200)
  })
})

describe('the stored form of a token', () => {
  test('F113 is its digest: no table and no line of the log contains a token', async () => {
    await app.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${good}` })
    await request(calls[0] as Call, 'Bearer wrong-token-that-must-not-be-logged')
    const tables = await rows<{ name: string }>(
      app,
      `select tablename as name from pg_tables where schemaname = 'public'`,
    )
    for (const { name } of tables) {
      const found = await rows(
        app,
        `select 1
          from ${name} t
          where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%'`,
        [good, app.token],
      )
      expect({ name, found }).toEqual({ name, found: [] })
    }
    for (const secret of [good, app.token, 'wrong-token-that-must-not-be-logged'])
      expect(JSON.stringify(app.logs)).not.toContain(secret)
  })
})
