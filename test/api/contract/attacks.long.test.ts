import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newToken } from '../../../src/core/access/token.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { sendRaw } from '../http/raw-request.ts'

// Attacks on the API (docs/security/attacks.md). Most of them are tried in the file of the code that they
// attack.
let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

async function addToken(to: App): Promise<{ id: number; token: string }> {
  const { status, body } = await to.call('POST', `/v1/organizations/${to.org_id}/tokens`, {
    name: 'attacked',
  })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

test('F106 a prompt of 10 MiB is refused by its field', async () => {
  const response = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
    prompt: 'x'.repeat(10 * 1024 * 1024),
  })
  expect(expectProblem(response, 400, 'body.prompt').detail).toContain('200000')
})

/** The same digits in another spelling. */
const encoded = (id: number) => [...String(id)].map(digit => `%3${digit}`).join('')

describe('F111 a limit', () => {
  const limits = {
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_STANDARD: '5/60',
    AGENTRUN_LIMIT_AGENT_CREATION: '2/60',
  }

  test('is one for all spellings of a path: every request that is not refused otherwise is counted', async () => {
    await using limited = await startApp(limits)
    const { id } = await createRun(limited, { prompt: 'x' })
    const org = `/v1/organizations/${limited.org_id}`
    const auth = `host: localhost\r\nauthorization: Bearer ${limited.token}\r\n`
    const statusOf = async (method: string, path: string, extra = '') =>
      (await sendRaw(limited, `${method} ${path} HTTP/1.1\r\n${auth}${extra}connection: close\r\n\r\n`))[0]
        ?.status
    for (let n = 0; n < 5; n++) expect(await statusOf('GET', `${org}/agent/run/${id}`)).toBe(200)
    for (const [method, path, status] of [
      ['GET', `${org}/agent/run/${id}`, 429],
      ['GET', `${org}/agent/run/${id}?x=${Math.random()}`, 429],
      ['GET', `${org}/%61gent/run/${id}`, 404],
      ['GET', `${org}/agent/r%75n/${id}/logs`, 404],
      ['GET', `/v1/organizations/${encoded(limited.org_id)}/agent/run/${encoded(id)}`, 429],
      ['GET', `/v1/alpha${org.slice(3)}/agent/run/${id}/logs`, 429],
      ['GET', `${org}/repositories`, 429],
      ['GET', '/v1/user', 429],
      ['GET', `${org}/agent/run/${id}/`, 404],
      ['GET', `/${org}/agent/run/${id}`, 404],
      ['GET', `${org}//agent/run/${id}`, 404],
      ['GET', `${org}/./agent/run/${id}`, 404],
      ['GET', `${org}/AGENT/run/${id}`, 404],
      ['GET', `/V1${org.slice(3)}/agent/run/${id}`, 404],
      ['GET', `${org}/agent/run/${id};x`, 429],
      ['HEAD', `${org}/agent/run/${id}`, 429],
      ['GET', `/v1/organizations/0${limited.org_id}/agent/run/${id}`, 429],
      ['GET', `/v1/organizations/${limited.org_id + 1}/agent/run/${id}`, 429],
    ] as const)
      expect({ method, path, status: await statusOf(method, path) }).toEqual({ method, path, status })
    for (const header of [
      'X-Forwarded-For: 203.0.113.7',
      'Forwarded: for=203.0.113.7',
      'X-Real-IP: 203.0.113.7',
      'X-HTTP-Method-Override: PUT',
    ])
      expect({ header, status: await statusOf('GET', '/v1/users/me', `${header}\r\n`) }).toEqual({
        header,
        status: 429,
      })
  })

  test('holds for pipelined requests', async () => {
    await using limited = await startApp(limits)
    const one = `GET /v1/users/me HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${limited.token}\r\n`
    const responses = await sendRaw(limited, `${`${one}\r\n`.repeat(19)}${one}connection: close\r\n\r\n`)
    expect(responses.map(response => response.status).toSorted()).toEqual([
      ...Array(5).fill(200),
      ...Array(15).fill(429),
    ])
  })

  test('of creations is one for all spellings, and is not increased by those of other requests', async () => {
    await using limited = await startApp(limits)
    const org = `/v1/organizations/${limited.org_id}`
    const create = async (path: string) => (await limited.call('POST', path, { prompt: 'x' })).status
    const other_spelling = `/v1/organizations/${encoded(limited.org_id)}/agent/run`
    expect([await create(`${org}/agent/run`), await create(other_spelling)]).toEqual([200, 200])
    expect([await create(`${org}/agent/run`), await create(other_spelling)]).toEqual([429, 429])
    for (const path of ['/%61gent/run', '/agent/ru%6e', '/agent/run/'])
      expect(await create(org + path)).toBe(404)
    expect((await limited.call('GET', `${org}/agent/runs`)).body.total).toBe(2)
  })

  test('of bad tokens counts the address of the connection, or the one that our proxy reports, and no address that the client wrote', async () => {
    const guess = (to: App, forwarded: string) =>
      to.call('GET', '/v1/users/me', undefined, {
        authorization: `Bearer ${newToken('p')}`,
        'x-forwarded-for': forwarded,
      })
    const refused = async (to: App, forwarded: (n: number) => string) => {
      const responses = []
      for (let n = 0; n < 8; n++) responses.push((await guess(to, forwarded(n))).status)
      return responses.filter(status => status === 429).length
    }
    const env = { AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_LIMIT_FAILED_TOKENS: '5/60' }
    await using direct = await startApp(env)
    expect(await refused(direct, n => `203.0.113.${n}`)).toBe(3)
    await using behind = await startApp({ ...env, AGENTRUN_TRUST_PROXY: '1' })
    expect(await refused(behind, n => `203.0.113.${n}, 198.51.100.1`)).toBe(3)
    expect(await refused(behind, n => `198.51.100.2, 203.0.113.${n}`)).toBe(0)
  })
})

test('F112 500 well-formed unknown tokens: 401 until the limit, then 429, a valid one passes, and no value of them is stored', async () => {
  await using guarded = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_FAILED_TOKENS: '100/60',
  })
  const guesses = Array.from({ length: 500 }, () => newToken('p'))
  const callAs = (token: string) =>
    guarded.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${token}` })
  const responses = []
  for (let n = 0; n < guesses.length; n += 50)
    responses.push(...(await Promise.all(guesses.slice(n, n + 50).map(callAs))))
  expect(responses.filter(response => response.status === 401)).toHaveLength(100)
  expect(responses.filter(response => response.status === 429)).toHaveLength(400)
  expect((await callAs(guarded.token)).status).toBe(200)
  expect(JSON.stringify(guarded.logs)).not.toContain('arun_p_')
})

test('F113 no file of the data folder, no line of the log and no row holds a token, regardless of its use', async () => {
  await using watched = await startApp()
  const { id, token } = await addToken(watched)
  const as = { authorization: `Bearer ${token}` }
  const org = `/v1/organizations/${watched.org_id}`
  const { body: run } = await watched.call(
    'POST',
    `${org}/agent/run`,
    { prompt: 'x' },
    { ...as, 'idempotency-key': 'f113' },
  )
  await watched.call('GET', `${org}/agent/run/${run.id}/logs`, undefined, as)
  await watched.call('POST', `${org}/agent/run`, { prompt: 7 }, as)
  await watched.call('GET', `/v1/nothing?token=${token}`, undefined, as)
  await watched.call('POST', `${org}/agent/run/stop`, { agent_run_id: run.id }, as)
  await watched.call('DELETE', `${org}/tokens/${id}`)
  for (const secret of [token, watched.token]) {
    expect(JSON.stringify(watched.logs)).not.toContain(secret)
    expect(filesHolding(watched.data_dir, secret)).toEqual([])
    for (const { name } of await rows<{ name: string }>(
      watched,
      `select tablename as name from pg_tables where schemaname = 'public'`,
    ))
      expect({
        name,
        found: await rows(watched, `select 1 from ${name} t where t::text like '%' || $1 || '%'`, [secret]),
      }).toEqual({
        name,
        found: [],
      })
  }
})

function filesHolding(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path).includes(text))
}

test('F114 a revoked token is refused by the next request, on every node', async () => {
  await using second = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', DATABASE_URL: app.database_url })
  const { id, token } = await addToken(app)
  const callOn = (node: App) =>
    node.call('GET', '/v1/users/me', undefined, { authorization: `Bearer ${token}` })
  for (const node of [app, second]) expect((await callOn(node)).status).toBe(200)
  expect((await second.call('DELETE', `/v1/organizations/${app.org_id}/tokens/${id}`)).status).toBe(200)
  for (const node of [app, second]) expectProblem(await callOn(node), 401)
})

test('F126 a response to a token is kept by no cache, and varies by token', async () => {
  const org = `/v1/organizations/${app.org_id}`
  for (const path of ['/v1/users/me', `${org}/agent/runs`, `${org}/agent/run/424242`, '/v1/nothing']) {
    const { headers } = await app.call('GET', path)
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
      'no-store',
      expect.stringMatching(/\bAuthorization\b/),
    ])
    expect([headers.get('etag'), headers.get('last-modified')]).toEqual([null, null])
  }
})
