import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Usage, type UsageItem } from '../../../src/contract/organizations/usage.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  const add = (org_id: number, day: string, run_id: number, model: string, cost: string, known: boolean) =>
    rows(
      app,
      `insert into usage_days (
          organization_id, day, run_id, model, user_id, repository_id, runs, completed, input_tokens,
          cost_usd, cost_known, active_ms
        )
        values ($1, $2, $3, $4, $5, $6, 1, 1, 100, $7, $8, 1500)`,
      [org_id, day, run_id, model, app.user_id, app.repo_id, cost, known],
    )
  await add(app.org_id, '2026-01-01', 901, 'a/one', '0.10', true)
  await add(app.org_id, '2026-01-02', 902, 'a/one', '0.20', true)
  await add(app.org_id, '2026-01-02', 903, 'b/two', '0', false)
  await add(other.org_id, '2026-01-02', 904, 'a/one', '99', true)
})
afterAll(() => app[Symbol.asyncDispose]())
const usage = (query: string, org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/usage?${query}`)

describe('getUsage 200', () => {
  test('by day, oldest first, both ends included, with exact sums and null for an unknown price', async () => {
    const { status, body } = await usage('from=2026-01-01&to=2026-01-02')
    expect(status).toBe(200)
    Usage.strict().parse(body)
    const common = {
      completed_with_reason: 0,
      failed: 0,
      cancelled: 0,
      output_tokens: 0,
      cached_tokens: 0,
      estimated_calls: 0,
    }
    const empty = { repo_id: null, user_id: null, model: null, name: null }
    const proposed = { success_rate: 1, pull_requests: 0, median_seconds_to_pull_request: null }
    expect(body.items).toEqual([
      {
        day: '2026-01-01',
        ...empty,
        runs: 1,
        completed: 1,
        ...common,
        input_tokens: 100,
        cost_usd: '0.1',
        known_cost_usd: '0.1',
        active_seconds: 1.5,
        ...proposed,
      },
      {
        day: '2026-01-02',
        ...empty,
        runs: 2,
        completed: 2,
        ...common,
        input_tokens: 200,
        cost_usd: null,
        known_cost_usd: '0.2',
        active_seconds: 3,
        ...proposed,
      },
    ])
    expect(body.total).toMatchObject({ runs: 3, known_cost_usd: '0.3', cost_usd: null, active_seconds: 4.5 })
  })

  test.each([
    ['model', 'model', ['a/one', 'b/two']],
    ['repo', 'repo_id', () => [app.repo_id]],
    ['user', 'user_id', () => [app.user_id]],
  ])('by %s', async (group, key, values) => {
    const { body } = await usage(`from=2026-01-01&to=2026-01-31&group_by=${group}`)
    expect(body.items.map((item: Record<string, unknown>) => item[key])).toEqual(
      typeof values === 'function' ? values() : values,
    )
    expect(body.items.reduce((sum: number, item: { runs: number }) => sum + item.runs, 0)).toBe(3)
  })

  test('filters narrow the items and the total, and groups of repositories and users have their names', async () => {
    const { body } = await usage('from=2026-01-01&to=2026-01-31&model=b/two')
    expect(body.items.map((item: { day: string; runs: number }) => [item.day, item.runs])).toEqual([
      ['2026-01-02', 1],
    ])
    expect(body.total.runs).toBe(1)
    expect((await usage(`from=2026-01-01&to=2026-01-31&user_id=${other.user_id}`)).body.items).toEqual([])
    expect((await usage(`from=2026-01-01&to=2026-01-31&repo_id=${app.repo_id}`)).body.total.runs).toBe(3)
    const [repository] = (await usage('from=2026-01-01&to=2026-01-31&group_by=repo')).body.items
    expect(repository.name).toBe(
      (await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}`)).body.name,
    )
  })

  test('pull requests of runs, with the median time to them', async () => {
    for (const [day, seconds] of [
      [1, 60],
      [1, 120],
      [2, 600],
    ] as const) {
      const { id } = await createRun(app, { prompt: 'x' })
      const pr = await putPullRequest(app, id)
      await rows(
        app,
        `update runs
          set created_at = '2026-02-01T00:00:00Z'::timestamptz + $2 * interval '1 day'
          where id = $1`,
        [id, day],
      )
      await rows(
        app,
        `update pull_requests
          set created_at = '2026-02-01T00:00:00Z'::timestamptz + $2 * interval '1 day' + $3 * interval '1 second'
          where id = $1`,
        [pr, day, seconds],
      )
      await rows(app, `update usage_days set day = '2026-02-01'::date + $2::int where run_id = $1`, [id, day])
    }
    const { body } = await usage('from=2026-02-01&to=2026-02-28')
    expect(
      body.items.map((item: UsageItem) => [item.pull_requests, item.median_seconds_to_pull_request]),
    ).toEqual([
      [2, 90],
      [1, 600],
    ])
    expect(body.total).toMatchObject({ pull_requests: 3, median_seconds_to_pull_request: 120 })
  })

  test('CSV has a line per item, and no text of it is a formula', async () => {
    await rows(app, `update usage_days set model = '=cmd|"x",1' where run_id = 903`)
    const { headers, body } = await usage('from=2026-01-01&to=2026-01-31&group_by=model&format=csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [names, first, second, ...rest] = (body as string).split('\r\n')
    expect(names).toMatch(
      /^day,repo_id,user_id,model,name,runs,.*,median_seconds_to_pull_request,completed_with_reason,estimated_calls$/,
    )
    expect(first).toBe(`,,,"'=cmd|""x"",1",,1,1,0,0,1,100,0,0,,0,1.5,0,,0,0`)
    expect(second).toBe(',,,a/one,,2,2,0,0,1,200,0,0,0.3,0.3,3,0,,0,0')
    expect(rest).toEqual([''])
    const path = `/v1/organizations/${app.org_id}/usage?from=2026-01-01&to=2026-01-31&group_by=model`
    const accepted = await app.call('GET', path, undefined, { accept: 'text/csv' })
    expect([accepted.headers.get('content-type'), accepted.body]).toEqual(['text/csv; charset=utf-8', body])
    for (const [query, accept] of [
      ['&format=json', 'text/csv'],
      ['', 'application/json, text/csv'],
      ['', 'text/x-patch'],
    ] as const)
      expect((await app.call('GET', path + query, undefined, { accept })).body).toMatchObject({
        group_by: 'model',
      })
    await rows(app, `update usage_days set model = 'b/two' where run_id = 903`)
  })

  test('this month by default: a run that is created now is counted, in the total and in the budget', async () => {
    const before = (await usage('')).body
    await createRun(app, { prompt: 'x' })
    const after = (await usage('')).body
    expect([after.total.runs, after.month.runs]).toEqual([before.total.runs + 1, before.month.runs + 1])
    expect(after.from).toBe(after.month.first_day)
  })

  test('days without usage are zero, and cost nothing', async () => {
    const { body } = await usage('from=2020-01-01&to=2020-01-31')
    expect(body).toMatchObject({
      items: [],
      total: { runs: 0, cost_usd: '0', known_cost_usd: '0', active_seconds: 0 },
    })
  })
})

describe('getUsage 400', () => {
  test.each([
    ['from=2026-13-01', 'query.from'],
    ['from=2026-02-30', 'query.from'],
    ['to=today', 'query.to'],
    ['from=2026-01-02&to=2026-01-01', 'query.to'],
    ['group_by=prompt', 'query.group_by'],
    ['format=xml', 'query.format'],
    ['repo_id=x', 'query.repo_id'],
    ['group_by=day&group_by=day', 'query.group_by'],
  ])('%s', async (query, field) => void expectProblem(await usage(query), 400, field))
})

describe('getUsage 403', () => {
  test('another organization', async () => void expectProblem(await usage('', other.org_id), 403))
})
