import { describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { createRun } from '../../runs/await-run.ts'
import { type ApiResponse, rows } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { tokenCalls } from '../contract/every-endpoint.ts'
import { expectProblem } from '../expect-problem.ts'
import { startProfiles } from './start-profiles.ts'
import type { Caller } from './with-profile.ts'

const { app, codegen, org, runIn } = await startProfiles()

/** Errors for clients of the public API: the same body as plain JSON. */
function expectPlain(result: ApiResponse, status: number, ...fields: string[]) {
  expect(result.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const headers = new Headers(result.headers)
  headers.set('content-type', 'application/problem+json; charset=utf-8')
  return expectProblem({ ...result, headers }, status, ...fields)
}

test('a request that is refused before its token is checked has the wire profile of that token', async () => {
  const refused: [status: number, method: string, path: string, headers?: Record<string, string>][] = [
    [404, 'GET', '/v1/nothing'],
    [405, 'PUT', `${org}/agent/run`],
    [415, 'POST', `${org}/agent/run`, { 'content-encoding': 'gzip' }],
    [422, 'GET', `${org}/agent/run/%zz`],
  ]
  for (const [status, method, path, headers] of refused) {
    const body = method === 'GET' ? undefined : { prompt: 'x' }
    const theirs = await codegen.call(method, path, body, headers)
    expect([path, theirs.status, theirs.headers.get('content-type')]).toEqual([
      path,
      status,
      'application/json; charset=utf-8',
    ])
    const ours = await app.call(method, path, body, headers)
    expect(ours.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  }
})

describe('400', () => {
  test('a standard token is refused a public model name, at create and at resume, with the list', async () => {
    const problem = expectProblem(
      await app.call('POST', `${org}/agent/run`, { prompt: 'x', model: 'gpt-5' }),
      400,
      'body.model',
    )
    expect(problem.detail).toContain('available: scripted/playbook')
    const agent_run_id = await runIn('completed')
    expectProblem(
      await app.call('POST', `${org}/agent/run/resume`, { agent_run_id, prompt: 'x', model: 'gpt-5' }),
      400,
      'body.model',
    )
  })

  test('an analysis without logs, with a codegen token too, as the public API documents', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    for (const { call, expected } of [
      { call: codegen.call, expected: expectPlain },
      { call: app.call, expected: expectProblem },
    ]) {
      const problem = expected(
        await call('POST', `${org}/agent/run/${id}/analyze-logs`),
        400,
        'path.agent_run_id',
      )
      expect(problem).toMatchObject({
        code: 'no_logs',
        detail: expect.stringMatching(/^No logs available for analysis: /),
      })
    }
  })

  test('a standard token is refused an agent that is not installed, with the list, and status names of the public API', async () => {
    const problem = expectProblem(
      await app.call('POST', `${org}/agent/run`, { prompt: 'x', agent_type: 'claude_code' }),
      400,
      'body.agent_type',
    )
    expect(problem.detail).toContain('available: built_in')
    expectProblem(await app.call('GET', `${org}/agent/runs?status=COMPLETE`), 400, 'query.status')
  })
})

describe('401', () => {
  test.each([
    ['GET', `/v1/alpha${org.slice(3)}/agent/run/1/logs`],
    ['POST', `/v1/beta${org.slice(3)}/agent/run/stop`],
    ['GET', '/v1/alpha/user/me'],
  ])(
    'an unknown token is refused in the form of the public API at a path of it: %s %s',
    async (method, path) => {
      const body = method === 'GET' ? undefined : { agent_run_id: 1 }
      expectPlain(
        await app.call(method, path, body, { authorization: 'Bearer sk-nobody-ever-made-this' }),
        401,
      )
    },
  )

  test('a known token decides by its profile, at any path', async () => {
    expectProblem(await app.call('GET', `/v1/alpha${org.slice(3)}/agent/run/424242/logs`), 404)
  })

  test('an invalid token has no profile', async () => {
    expectProblem(
      await codegen.call(
        'POST',
        `${org}/agent/run`,
        { prompt: 7 },
        { authorization: 'Bearer nobody-ever-made-this-token' },
      ),
      401,
    )
  })
})

describe('422', () => {
  const cases: [string, string, string, unknown, string][] = [
    ['a body without what it needs', 'POST', '/agent/run', {}, 'body.prompt'],
    ['no body at all', 'POST', '/agent/run', undefined, 'body'],
    ['a value of another type', 'POST', '/agent/run', { prompt: 'x', repo_id: '1' }, 'body.repo_id'],
    ['a model that nobody knows', 'POST', '/agent/run', { prompt: 'x', model: 'x/y' }, 'body.model'],
    [
      'an agent that nobody knows',
      'POST',
      '/agent/run',
      { prompt: 'x', agent_type: 'nobody' },
      'body.agent_type',
    ],
    ['a query out of bounds', 'GET', '/agent/runs?limit=101', undefined, 'query.limit'],
    ['a status that nobody has', 'GET', '/agent/runs?status=DONE', undefined, 'query.status'],
    [
      'a status that nobody has among others',
      'GET',
      '/agent/runs?status=ERROR&status=DONE',
      undefined,
      'query.status',
    ],
    ['a number given twice', 'GET', '/agent/runs?limit=1&limit=2', undefined, 'query.limit'],
    ['an id that is none', 'GET', '/agent/run/one', undefined, 'path.agent_run_id'],
  ]
  test.each(cases)(
    '%s, reported as a list of locations in addition to the message',
    async (_what, method, path, body, location) => {
      const before = await contents(app)
      const result = await codegen.call(method, org + path, body)
      expectList(result, location)
      expect(await contents(app)).toEqual(before)
    },
  )

  test('an invalid body, and a page out of bounds, for every operation', async () => {
    const tenant = await addTenant(app)
    const as = (token: string) => ({ authorization: `Bearer ${token}` })
    const made = await app.call(
      'POST',
      `/v1/organizations/${tenant.org_id}/tokens`,
      { name: 'c', wire_profile: 'codegen' },
      as(tenant.token),
    )
    const before = await contents(app)
    for (const { name, method, path, body } of tokenCalls(tenant)) {
      const paged = 'skip' in endpoints[name].query.shape
      if (body !== undefined) expectList(await app.call(method, path, 7, as(made.body.token)), 'body')
      if (paged)
        expectList(
          await app.call(
            method,
            `${path}${path.includes('?') ? '&' : '?'}limit=0`,
            body,
            as(made.body.token),
          ),
          'query.limit',
        )
    }
    expect(await contents(app)).toEqual(before)
  })

  test('an invalid organization', async () => {
    expectList(await codegen.call('GET', '/v1/organizations/one/repos'), 'path.org_id')
    const { body } = await codegen.call('GET', '/v1/organizations/one/agent/runs?status=COMPLETE')
    expect(body.detail.map((item: { loc: string[] }) => item.loc.join('.'))).toEqual(['path.org_id'])
  })

  test.each(['{', '{"prompt":"x","prompt":"y"}', `{"a":${'['.repeat(100)}`, '\ufeff{}', ''])(
    'a body that is not JSON: %j',
    async body => {
      const response = await fetch(`${app.base_url}${org}/agent/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${codegen.token}`, 'content-type': 'application/json' },
        body,
      })
      expectList({ status: response.status, headers: response.headers, body: await response.json() }, 'body')
    },
  )

  function expectList({ status, headers, body }: Awaited<ReturnType<Caller['call']>>, location: string) {
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { status: 422, status_code: 422, code: 'invalid_request' },
    })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-request-id')).toBe(body.request_id)
    expect(body.message).toEqual(expect.stringMatching(/\w/))
    expect(body.detail.map((item: { loc: unknown[] }) => item.loc.join('.'))).toContain(location)
    for (const { loc, msg, type, ...rest } of body.detail) {
      for (const part of loc) expect(['string', 'number']).toContain(typeof part)
      expect([typeof msg, typeof type, rest]).toEqual(['string', 'string', {}])
    }
  }
})

describe('other refusals', () => {
  test('are the same for both, with a text as detail', async () => {
    const agent_run_id = await runIn('completed')
    await rows(app, 'update runs set banned = true where id = $1', [agent_run_id])
    for (const [method, path, body, status] of [
      ['GET', `${org}/agent/run/424242`, undefined, 404],
      ['GET', '/v1/organizations/424242/repos', undefined, 403],
      ['POST', `${org}/agent/run/resume`, { agent_run_id, prompt: 'x' }, 409],
    ] as const)
      expectPlain(await codegen.call(method, path, body), status)
    expectPlain(await codegen.call('DELETE', '/v1/users/me'), 405)
    const text = await fetch(`${app.base_url}${org}/agent/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${codegen.token}`, 'content-type': 'text/plain' },
      body: 'x',
    })
    expectPlain({ status: text.status, headers: text.headers, body: await text.json() }, 415)
    const key = { 'idempotency-key': 'wire-2' }
    await codegen.call('POST', `${org}/agent/run`, { prompt: 'x' }, key)
    expectPlain(await codegen.call('POST', `${org}/agent/run`, { prompt: 'y' }, key), 422)
  })
})
