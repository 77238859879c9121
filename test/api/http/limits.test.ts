import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../../../src/core/access/token.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { createRun } from '../../runs/await-run.ts'
import { type ApiResponse, type App, rows, startApp } from '../../start-app.ts'
import { addOrganization, addTenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { addOldMembership, addPerson } from '../members/people.ts'

const limits = {
  AGENTRUN_LIMIT_STANDARD: '60/30',
  AGENTRUN_LIMIT_AGENT_CREATION: '10/60',
  AGENTRUN_LIMIT_SETUP_COMMANDS: '5/60',
  AGENTRUN_LIMIT_LOG_ANALYSIS: '5/60',
  AGENTRUN_LIMIT_TOKEN_TOTAL: '60/60',
}
let app: App
let tokens = 0
const runPath = (org_id: number, id: number) => `/v1/organizations/${org_id}/agent/run/${id}`
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', ...limits })
})
afterAll(() => app[Symbol.asyncDispose]())

/** A user with separate windows. */
async function newCaller(kind: 'personal' | 'browser' = 'personal', user_id?: number) {
  tokens += 1
  const token = `a-token-of-the-limits-test-${tokens}`
  const { id } = await insertToken(app.db, {
    user_id: user_id ?? (await addPerson(app, 'ADMIN')).user_id,
    kind,
    name: token,
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: null,
  })
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    app.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  return { id, token, call }
}
const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_item, n) => work(n)))
const statuses = (responses: ApiResponse[]) => {
  const counted: Record<number, number> = {}
  for (const { status } of responses) counted[status] = (counted[status] ?? 0) + 1
  return counted
}
/** Moves the requests of the caller into the past. */
const age = (id: number, seconds: number) =>
  rows(
    app,
    `update rate_windows
      set hits = array(select h - $2::bigint * 1000000 from unnest(hits) h)
      where subject = $1`,
    [`token ${id}`, seconds],
  )

describe('429', () => {
  test('F110 the 61st request within 30 s, in any distribution, and refused ones are not counted', async () => {
    const { id, call } = await newCaller()
    const path = runPath(app.org_id, (await createRun(app, { prompt: 'x' })).id)
    expect(statuses(await many(75, () => call('GET', path)))).toEqual({ 200: 60, 429: 15 })
    const refused = await call('GET', path)
    expectProblem(refused, 429)
    expect(refused.body.code).toBe('rate_limited')
    const wait = Number(refused.headers.get('retry-after'))
    expect(Number.isInteger(wait) && wait >= 1 && wait <= 30).toBe(true)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('60')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    await age(id, 31)
    expect((await call('GET', path)).status).toBe(200)
  })

  test('F110 the processes on one database share the count', async () => {
    await using second = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      ...limits,
      DATABASE_URL: app.database_url,
    })
    const { token } = await newCaller()
    const headers = { authorization: `Bearer ${token}` }
    const responses = await many(70, n =>
      (n % 2 ? app : second).call('GET', '/v1/users/me', undefined, headers),
    )
    expect(statuses(responses)).toEqual({ 200: 60, 429: 10 })
  })

  test('F110 the 11th creation within a minute, and no run is created', async () => {
    const { call } = await newCaller()
    const path = `/v1/organizations/${app.org_id}/agent/run`
    const count = async () =>
      (await rows<{ n: number }>(app, 'select count(*)::int as n from runs'))[0]?.n ?? 0
    const before = await count()
    expect(statuses(await many(14, () => call('POST', path, { prompt: 'x' })))).toEqual({ 200: 10, 429: 4 })
    expect(await count()).toBe(before + 10)
    // Other requests of the token have a separate window.
    expect((await call('GET', '/v1/users/me')).status).toBe(200)
  })

  test('the 31st creation or dry run of a user within a minute, over all tokens, pages and processes', async () => {
    await using second = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      ...limits,
      DATABASE_URL: app.database_url,
    })
    const { user_id } = await addPerson(app, 'ADMIN')
    const callers = await many(8, n => newCaller(n === 0 ? 'browser' : 'personal', user_id))
    const path = `/v1/organizations/${app.org_id}/agent/run`
    const responses = await many(80, n => {
      const headers = { authorization: `Bearer ${callers[n % 8]?.token}` }
      return (n % 2 ? app : second).call(
        'POST',
        n % 3 ? `${path}?dry_run=true` : path,
        { prompt: 'x' },
        headers,
      )
    })
    expect(statuses(responses)).toEqual({ 200: 30, 429: 50 })
    const fresh = await newCaller('personal', user_id)
    const refused = await fresh.call('POST', path, { prompt: 'x' })
    expectProblem(refused, 429)
    expect(refused.body.detail).toContain('30 requests per 60 s (user_creation)')
    expect(refused.headers.get('x-ratelimit-limit')).toBe('30')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('ratelimit')).toContain('"agent_creation";r=10;')
    // Nor are creations of the user in another organization, by any token.
    const { org_id } = await addOrganization(app, 'elsewhere')
    await addOldMembership(app, org_id, user_id, 'ADMIN')
    expect(
      (await fresh.call('POST', `/v1/organizations/${org_id}/agent/run?dry_run=true`, { prompt: 'x' }))
        .status,
    ).toBe(200)
    // Neither other requests of the user nor creations of other users are refused.
    expect((await fresh.call('GET', '/v1/users/me')).status).toBe(200)
    expect((await (await newCaller()).call('POST', path, { prompt: 'x' })).status).toBe(200)
  })

  test('F110 the total of a minute refuses logs, and no other requests', async () => {
    const { id, call } = await newCaller()
    const logs = `${runPath(app.org_id, (await createRun(app, { prompt: 'x' })).id)}/logs`
    await many(50, () => call('GET', '/v1/users/me'))
    await age(id, 31)
    // 50 are out of the 30 s but within the minute.
    expect(statuses(await many(13, () => call('GET', logs)))).toEqual({ 200: 10, 429: 3 })
    const refused = await call('GET', logs)
    expect(refused.body.detail).toContain('token_total')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(20)
    expect((await call('GET', '/v1/users/me')).status).toBe(200)
  })

  test('F112 a request with an unknown token counts for its address', async () => {
    await using guarded = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_LIMIT_FAILED_TOKENS: '5/60',
    })
    const guess = (n: number) =>
      guarded.call('GET', '/v1/users/me', undefined, { authorization: `Bearer not-a-token-of-anyone-${n}` })
    const responses = await many(8, guess)
    expect(statuses(responses)).toEqual({ 401: 5, 429: 3 })
    expect((await guarded.call('GET', '/v1/users/me')).status).toBe(200)
  })
})

describe('200', () => {
  test('the remaining requests are reported, in every spelling', async () => {
    const { call } = await newCaller()
    const first = await call('GET', '/v1/users/me')
    expect(first.headers.get('ratelimit-policy')).toBe('"standard";q=60;w=30, "token_total";q=60;w=60')
    expect(first.headers.get('ratelimit')).toBe('"standard";r=59;t=30, "token_total";r=59;t=60')
    expect(first.headers.get('x-ratelimit-limit')).toBe('60')
    expect(first.headers.get('x-ratelimit-remaining')).toBe('59')
    expect(first.headers.get('x-ratelimit-reset')).toBe('30')
    expect((await call('GET', '/v1/users/me')).headers.get('x-ratelimit-remaining')).toBe('58')
    // A refusal for another reason than the limits is charged too, and has the headers.
    const missing = await call('GET', runPath(app.org_id, 999_999))
    expect([missing.status, missing.headers.get('x-ratelimit-remaining')]).toEqual([404, '57'])
  })

  test('a token of the page has a separate window', async () => {
    const { call } = await newCaller('browser')
    expect(statuses(await many(80, () => call('GET', '/v1/users/me')))).toEqual({ 200: 80 })
  })

  test('no limit, no headers', async () => {
    await using free = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    expect(
      [...(await free.call('GET', '/v1/users/me')).headers.keys()].filter(name => name.includes('ratelimit')),
    ).toEqual([])
  })

  test('requests that arrive together use one share of a large limit, so that it is used up by requests only', async () => {
    await using large = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_LIMIT_STANDARD: '1000000/600',
    })
    const responses = await many(50, () => large.call('GET', '/v1/users/me'))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const counted = await rows(large, `select counts from rate_windows where bucket = 'standard'`)
    expect(counted).toEqual([{ counts: [1_000] }])
  })

  test('a large limit admits at most its number, counted in shares', async () => {
    await using large = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_LIMIT_STANDARD: '10000/600',
    })
    await large.call('GET', '/v1/users/me')
    await rows(large, `update rate_windows set counts[cardinality(counts)] = 9990`)
    const responses = await many(30, () => large.call('GET', '/v1/users/me'))
    const { 200: passed = 0, 429: refused = 0 } = statuses(responses)
    expect(passed + refused).toBe(30)
    expect(passed).toBeLessThanOrEqual(19)
    expect(refused).toBeGreaterThan(0)
  })
})

describe('Idempotency-Key', () => {
  const create = () => `/v1/organizations/${app.org_id}/agent/run`
  const runs = async () => (await rows<{ n: number }>(app, 'select count(*)::int as n from runs'))[0]?.n ?? 0

  test('F115 200: twenty parallel requests create one run and get twenty equal responses', async () => {
    const { call } = await newCaller()
    const before = await runs()
    const responses = await many(20, () =>
      call('POST', create(), { prompt: 'once' }, { 'idempotency-key': 'k-20' }),
    )
    expect(statuses(responses)).toEqual({ 200: 20 })
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19)
    expect(await runs()).toBe(before + 1)
    // Nineteen were charged to the standard window: nine more creations are left.
    expect(statuses(await many(12, () => call('POST', create(), { prompt: 'more' })))).toEqual({
      200: 9,
      429: 3,
    })
  })

  test('200: the response is unchanged, though the run continued', async () => {
    const { call } = await newCaller()
    const first = await call('POST', create(), { prompt: 'stays' }, { 'idempotency-key': 'k-stays' })
    await call('PATCH', runPath(app.org_id, first.body.id), { title: 'changed' })
    const second = await call('POST', create(), { prompt: 'stays' }, { 'idempotency-key': 'k-stays' })
    expect(second.body).toEqual(first.body)
  })

  test('200: a resume takes effect once', async () => {
    const { call } = await newCaller()
    const { id } = await createRun(app, { prompt: 'x' })
    const body = { agent_run_id: id, prompt: 'again' }
    const responses = await many(5, () =>
      call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, body, {
        'idempotency-key': 'k-resume',
      }),
    )
    expect(statuses(responses)).toEqual({ 200: 5 })
    const [row] = await rows<{ n: number }>(
      app,
      `select count(*)::int as n from messages where run_id = $1 and text = 'again'`,
      [id],
    )
    expect(row?.n).toBe(1)
  })

  test('F115 200: the same text of another user is another key', async () => {
    const other = await addTenant(app, 'keys')
    const { call } = await newCaller()
    const mine = await call('POST', create(), { prompt: 'mine' }, { 'idempotency-key': 'k-same' })
    const theirs = await app.call(
      'POST',
      `/v1/organizations/${other.org_id}/agent/run`,
      { prompt: 'theirs', repo_id: other.repo_id },
      { authorization: `Bearer ${other.token}`, 'idempotency-key': 'k-same' },
    )
    expect([mine.status, theirs.status]).toEqual([200, 200])
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  test('200: a refusal is not stored', async () => {
    const { call } = await newCaller()
    expect((await call('POST', create(), { prompt: ' ' }, { 'idempotency-key': 'k-bad' })).status).toBe(400)
    const good = await call('POST', create(), { prompt: 'good' }, { 'idempotency-key': 'k-bad' })
    expect([good.status, good.headers.get('idempotent-replayed')]).toEqual([200, null])
  })

  test('200: a day later it is a new key', async () => {
    const { call } = await newCaller()
    const first = await call('POST', create(), { prompt: 'day' }, { 'idempotency-key': 'k-day' })
    await rows(
      app,
      `update idempotency_keys
        set created_at = now() - interval '25 hours'
        where key = 'k-day'`,
    )
    const second = await call('POST', create(), { prompt: 'another' }, { 'idempotency-key': 'k-day' })
    expect(second.status).toBe(200)
    expect(second.body.id).not.toBe(first.body.id)
  })

  test.each(['', 'x'.repeat(256), 'a\tb'])('400: %j is an invalid key', async key => {
    const { call } = await newCaller()
    const before = await runs()
    const response = await call('POST', create(), { prompt: 'x' }, { 'idempotency-key': key })
    expectProblem(response, 400)
    expect(response.body.errors[0].loc).toEqual(['header', 'Idempotency-Key'])
    expect(await runs()).toBe(before)
  })

  test('409: the first is still running after five seconds', async () => {
    const { call } = await newCaller()
    const first = await call('POST', create(), { prompt: 'held' }, { 'idempotency-key': 'k-held' })
    expect(first.status).toBe(200)
    await app.db.transaction(async tx => {
      await tx.query({ text: `update idempotency_keys set answer = null where key = 'k-held'` })
      const response = await call('POST', create(), { prompt: 'held' }, { 'idempotency-key': 'k-held' })
      expectProblem(response, 409)
      expect(response.headers.get('retry-after')).toBe('1')
    })
  })

  test('F115 422: the same key for another request', async () => {
    const { call } = await newCaller()
    const before = await runs()
    await call('POST', create(), { prompt: 'one' }, { 'idempotency-key': 'k-two' })
    const other = await call('POST', create(), { prompt: 'two' }, { 'idempotency-key': 'k-two' })
    expectProblem(other, 422)
    expect(await runs()).toBe(before + 1)
  })
})
