import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { digest } from '../../../src/core/access/token.ts'
import { createRun } from '../../runs/await-run.ts'
import { type ApiResponse, type App, rows, startApp } from '../../start-app.ts'
import { addCaller } from '../access/add-caller.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { type Call, tokenCalls, unknown } from '../contract/every-endpoint.ts'
import { expectProblem } from '../expect-problem.ts'

/**
 * Of several errors of a request, the first of specification.md#errors is reported: token → limit →
 * membership and scope → parse → object → state.
 */

let app: App
let other: Tenant
beforeAll(async () => {
  const limit = Object.fromEntries(
    ['STANDARD', 'AGENT_CREATION', 'SETUP_COMMANDS', 'LOG_ANALYSIS', 'RECORDING', 'TOKEN_TOTAL'].map(name => [
      `AGENTRUN_LIMIT_${name}`,
      '900/600',
    ]),
  )
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', ...limit })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

type Wrong = { method: string; path: string; body?: string; headers?: Record<string, string> }
async function send({ method, path, body, headers }: Wrong, token: string | null): Promise<ApiResponse> {
  const response = await fetch(app.base_url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
const caller = (limits: Parameters<typeof addCaller>[3] = {}) => addCaller(app, [app.org_id], 'ADMIN', limits)

/** A user who has reached the rate limit. */
async function spent(): Promise<string> {
  const token = await caller()
  await send({ method: 'GET', path: '/v1/users/me' }, token)
  await send({ method: 'GET', path: `/v1/organizations/${app.org_id}/agent/run/0/logs` }, token)
  await rows(
    app,
    `update rate_windows
      set hits = array_fill(hits[1], array[900]),
        counts = case when cardinality(counts) = 0 then counts else array_fill(1, array[900]) end
      where subject = (select 'token ' || id from tokens where digest = $1)`,
    [digest(token)],
  )
  return token
}

describe('a follow-up with fewer and fewer errors', () => {
  const broken = '{"prompt":'
  const resume = (
    run: number | string,
    body = '{"prompt":"x"}',
    headers: Record<string, string> = {},
    org_id: number | string = app.org_id,
  ) =>
    ({
      method: 'POST',
      path: `/v1/organizations/${org_id}/agent/run/${run}/resume`,
      body,
      headers,
    }) satisfies Wrong
  const bad_key = { 'idempotency-key': 'x'.repeat(256) }

  test('reports the first remaining error', async () => {
    const banned = (await createRun(app, { prompt: 'x' })).id
    await rows(app, 'update runs set banned = true where id = $1', [banned])
    const before = await contents(app)
    const cases: [what: string, Wrong, token: string | null, status: number][] = [
      ['no token, and all the rest', resume('one', broken, bad_key, other.org_id), null, 401],
      ['a spent token, and all the rest', resume('one', broken, bad_key, other.org_id), await spent(), 429],
      ['a spent token, and a path of no organization', resume(1, broken, {}, 'one'), await spent(), 429],
      ['a spent token, and a bad key', resume(1, undefined, bad_key), await spent(), 429],
      ['no membership, and all the rest', resume('one', broken, bad_key, other.org_id), await caller(), 403],
      [
        'no scope, and all the rest',
        resume('one', broken, bad_key),
        await caller({ scopes: ['runs:read'] }),
        403,
      ],
      ['a bad key, a broken body and no such run', resume(0, broken, bad_key), await caller(), 400],
      ['a broken body and no such run', resume(0, broken), await caller(), 400],
      [
        'a body of another type and no such run',
        resume(0, 'x', { 'content-type': 'text/plain' }),
        await caller(),
        415,
      ],
      [
        'an unknown model and no such run',
        resume(0, '{"prompt":"x","model":"no/such"}'),
        await caller(),
        400,
      ],
      ['no such run', resume(0), await caller(), 404],
      ['a broken body, and the run is banned', resume(banned, broken), await caller(), 400],
      [
        'an unknown model, and the run is banned',
        resume(banned, '{"prompt":"x","model":"no/such"}'),
        await caller(),
        400,
      ],
      ['the run is banned', resume(banned), await caller(), 409],
    ]
    for (const [what, request, token, status] of cases) {
      const result = await send(request, token)
      expect({ what, status: result.status, body: result.body }).toMatchObject({ what, status })
      expectProblem(result, status)
      // An authenticated caller gets the number of remaining requests with every error.
      expect({ what, counted: result.headers.has('x-ratelimit-remaining') }).toEqual({
        what,
        counted: status !== 401,
      })
    }
    const { tokens: _new, users: _too, memberships: _also, ...after } = await contents(app)
    expect(before).toMatchObject(after)
  })
})

test('a create with fewer and fewer errors', async () => {
  const tenant = await addTenant(app, 'Quota')
  const path = `/v1/organizations/${tenant.org_id}/agent/run`
  await app.call(
    'PATCH',
    `/v1/organizations/${tenant.org_id}`,
    { runs_per_month: 0 },
    { authorization: `Bearer ${tenant.token}` },
  )
  const private_hook = [{ url: 'http://127.0.0.1/' }]
  const cases: [what: string, body: unknown, status: number][] = [
    ['no prompt, no such repository, nothing left of the month', { repo_id: other.repo_id }, 400],
    [
      'an unknown agent, no such repository',
      { prompt: 'x', agent_type: 'no_such', repo_id: other.repo_id },
      400,
    ],
    [
      'a webhook to a private address, no such repository',
      { prompt: 'x', webhooks: private_hook, repo_id: other.repo_id },
      400,
    ],
    ['no such repository, nothing left of the month', { prompt: 'x', repo_id: other.repo_id }, 404],
    [
      'no such parent, nothing left of the month',
      { prompt: 'x', repo_id: tenant.repo_id, parent_run_id: other.run_id },
      404,
    ],
    ['nothing left of the month', { prompt: 'x', repo_id: tenant.repo_id }, 402],
  ]
  for (const [what, body, status] of cases) {
    const result = await send({ method: 'POST', path, body: JSON.stringify(body) }, tenant.token)
    expect({ what, status: result.status, body: result.body }).toMatchObject({ what, status })
  }
})

describe('for every operation', () => {
  const rowOf = ({ name }: Call): Endpoint => endpoints[name]
  /** With an invalid body and query. */
  const spoil = (call: Call): Wrong => ({
    method: call.method,
    path: `${call.path}${call.path.includes('?') ? '&' : '?'}${Object.keys(rowOf(call).query.shape)
      .map(name => `${name}=%00&${name}=`)
      .join('&')}`,
    ...(rowOf(call).body !== null && { body: '{' }),
  })

  test('an invalid token, a foreign organization and a missing scope come before errors of path, query and body', async () => {
    const [stranger, scopeless] = [
      await addCaller(app, [other.org_id], 'ADMIN'),
      await caller({ scopes: [] }),
    ]
    const before = await contents(app)
    for (const call of tokenCalls({ ...unknown, org_id: app.org_id })) {
      const of_organization = 'org_id' in rowOf(call).params.shape
      const cases = [
        { token: null, status: 401 },
        ...(of_organization ? [{ token: stranger, status: 403 }] : []),
        ...(rowOf(call).scope === null ? [] : [{ token: scopeless, status: 403 }]),
      ]
      for (const { token, status } of cases) {
        const result = await send(spoil(call), token)
        expect({ call: call.name, wanted: status, status: result.status }).toEqual({
          call: call.name,
          wanted: status,
          status,
        })
      }
    }
    expect(await contents(app)).toEqual(before)
  })

  test('errors of query and body come before a missing object', async () => {
    const before = await contents(app)
    const takers = tokenCalls({ ...unknown, org_id: app.org_id }).filter(
      call => rowOf(call).body !== null || Object.keys(rowOf(call).query.shape).length > 0,
    )
    expect(takers.length).toBeGreaterThan(20)
    for (const call of takers) {
      const result = await send(spoil(call), app.token)
      expect({ call: call.name, status: result.status }).toEqual({ call: call.name, status: 400 })
    }
    expect(await contents(app)).toEqual(before)
  })
})

describe('OPTIONS', () => {
  test('returns the methods of the path for every caller and object, and is not counted', async () => {
    const token = await caller()
    const { id } = await createRun(app, { prompt: 'x' })
    const words = new Set<string>()
    for (const caller_token of [token, await spent(), null])
      for (const run of [id, 424_242, other.run_id]) {
        const { status, headers } = await fetch(
          `${app.base_url}/v1/organizations/${app.org_id}/agent/run/${run}`,
          {
            method: 'OPTIONS',
            headers: caller_token === null ? {} : { authorization: `Bearer ${caller_token}` },
          },
        )
        words.add(`${status} ${headers.get('allow')} ${headers.get('x-ratelimit-remaining')}`)
      }
    expect([...words]).toEqual(['405 GET, HEAD, PATCH, DELETE null'])
    const { headers } = await send({ method: 'GET', path: '/v1/users/me' }, token)
    expect(headers.get('x-ratelimit-remaining')).toBe('899')
  })
})

test('HEAD is checked and counted like GET', async () => {
  const statuses = async (method: string) => {
    const token = await caller()
    const spent_token = await spent()
    const results: string[] = []
    for (const caller_token of [token, spent_token, 'unknown-token-0123456789abcdef', null])
      for (const run of [run_id, 424_242, other.run_id]) {
        const headers: Record<string, string> =
          caller_token === null ? {} : { authorization: `Bearer ${caller_token}` }
        const response = await fetch(`${app.base_url}/v1/organizations/${app.org_id}/agent/run/${run}`, {
          method,
          headers,
        })
        results.push(`${response.status} ${response.headers.get('x-ratelimit-remaining')}`)
      }
    return results
  }
  const { id: run_id } = await createRun(app, { prompt: 'x' })
  expect(await statuses('HEAD')).toEqual(await statuses('GET'))
})
