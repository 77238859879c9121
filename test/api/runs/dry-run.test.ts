import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DryRun } from '../../../src/contract/runs/dry-run.ts'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import type { Context } from '../../../src/service/context.ts'
import { dryRunOf } from '../../../src/service/runs/dry-run.ts'
import { unusedServices } from '../../no-service.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addOrganization, addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { listenToRuns } from '../listen-to-runs.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    AGENTRUN_DEFAULT_MODEL: 'scripted/playbook',
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_AGENT_CREATION: '500/60',
  })
  // No worker may start the runs created here, but a worker that could must be registered.
  await rows(app, 'update workers set concurrency = 1')
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run`
const create = (body: unknown, query = '') => app.call('POST', `${path()}${query}`, body)
const dry = async (body: unknown) => {
  const { status, body: response } = await create(body, '/dry-run')
  expect({ status, answer: response }).toMatchObject({ status: 200 })
  return DryRun.strict().parse(response)
}
const written = () => contents(app)

describe('200', () => {
  test('the result describes the run that a create then creates', async () => {
    const body = {
      prompt: 'Look around',
      base_ref: 'refs/heads/main',
      metadata: { a: 1 },
      webhooks: [{ url: 'https://example.org' }],
    }
    const prediction = await dry(body)
    const run = AgentRun.parse((await create(body)).body)
    const { base_ref, base_sha, model, agent_type } = run
    expect(prediction).toMatchObject({
      dry_run: true,
      base_ref,
      base_sha,
      model,
      agent_type,
      blocking_problems: [],
    })
    expect(prediction.repository).toMatchObject({ id: run.repo_id, full_name: 'sample/invoice' })
    expect(prediction.base_sha).toMatch(/^[0-9a-f]{40}$/)
    expect(prediction.notices.map(notice => notice.code)).toEqual(['scripted_model'])
    expect(prediction.environment.network).toBe('none')
    expect(prediction.environment).toMatchObject({
      setup: { commands: 0, state: 'none' },
      checks: 0,
      startups: { runs: 0 },
    })
    await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent: { mode: 'allowlist' } })
    expect((await dry({ prompt: 'x' })).environment.network).toBe('allowlist')
    await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent: {} })
    const { body: ready } = await app.call('GET', '/readyz')
    expect(prediction.environment).toMatchObject({ sandbox: ready.sandbox, blocked: ready.workers_reason })
  })

  test('a cost limit without effect, because the price of the model is unknown', async () => {
    const codes = async (body: object) =>
      (await dry({ prompt: 'x', ...body })).notices.map(notice => notice.code)
    const model = 'openai-compatible/some'
    expect(await codes({ model, budget: { max_cost_usd: 1 } })).toEqual(['price_unknown'])
    expect(await codes({ model, budget: { max_steps: 1 } })).toEqual([])
    expect(await codes({ budget: { max_cost_usd: 1 } })).toEqual(['scripted_model'])
  })

  test('nothing is written and no event is published', async () => {
    await using client = await listenToRuns(app)
    const before = await written()
    await dry({ prompt: 'x' })
    await dry({ prompt: 'x', repoless: true })
    await dry({ prompt: 'x', base_ref: 'no-such-branch' })
    expect(await written()).toEqual(before)
    expect(await client.received()).toEqual([])
  })

  test('an empty workspace has neither repository nor commit', async () => {
    expect(await dry({ prompt: 'x', repoless: true })).toMatchObject({
      repository: null,
      base_ref: null,
      base_sha: null,
      blocking_problems: [],
    })
  })

  test('the limits that a create is charged to are reported, this request counted', async () => {
    const [one, two] = [await dry({ prompt: 'x' }), await dry({ prompt: 'x' })]
    expect(one.limits_left.agent_creation).toMatchObject({ limit: 500 })
    expect(
      (one.limits_left.agent_creation?.remaining ?? 0) - (two.limits_left.agent_creation?.remaining ?? 0),
    ).toBe(1)
    expect(two.limits_left.agent_creation?.reset_seconds).toBeGreaterThan(0)
  })

  test('false, and its absence, create as usual', async () => {
    expect((await create({ prompt: 'x' }, '?dry_run=false')).body).toMatchObject({ status: 'queued' })
  })

  test('dry_run=true on create responds the same', async () => {
    // The two differ in what is left of the limits, and in the time of the request.
    const comparable = ({
      limits_left: _left,
      environment: { startups: _since, ...environment },
      ...rest
    }: DryRun) => ({
      ...rest,
      environment,
    })
    const operation = comparable(await dry({ prompt: 'x' }))
    const parameter = comparable(DryRun.strict().parse((await create({ prompt: 'x' }, '?dry_run=true')).body))
    expect(parameter).toEqual(operation)
  })

  test('an idempotency key remains unused for the create that follows', async () => {
    const key = { 'idempotency-key': 'for-the-create' }
    expect((await app.call('POST', `${path()}?dry_run=true`, { prompt: 'x' }, key)).body.dry_run).toBe(true)
    expect((await app.call('POST', path(), { prompt: 'x' }, key)).body).toMatchObject({ status: 'queued' })
  })
})

describe('obstacles', () => {
  const problems: [string, Record<string, unknown>, { code: string; field: string | null }][] = [
    ['an unknown model', { model: 'no/model' }, { code: 'invalid_request', field: 'model' }],
    [
      'an agent that is not installed',
      { agent_type: 'codex' },
      { code: 'invalid_request', field: 'agent_type' },
    ],
    ['an unknown branch', { base_ref: 'no-such-branch' }, { code: 'invalid_request', field: 'base_ref' }],
    ['a repository that never was', { repo_id: 424_242 }, { code: 'not_found', field: null }],
    ['a parent that never was', { parent_run_id: 424_242 }, { code: 'not_found', field: null }],
    [
      'a playbook with a mistake',
      { prompt: '```playbook\n- nothing: here\n```' },
      { code: 'invalid_request', field: 'prompt' },
    ],
    [
      'a webhook to ourselves',
      { webhooks: [{ url: 'http://localhost' }] },
      { code: 'invalid_request', field: 'webhooks.0.url' },
    ],
  ]
  test.each(problems)(
    '%s: with the code and message of the refusal of a create',
    async (_, given, expected) => {
      const body = { prompt: 'x', ...given }
      const { blocking_problems } = await dry(body)
      expect(blocking_problems).toMatchObject([expected])
      expect((await create(body)).body).toMatchObject({
        code: blocking_problems[0]?.code,
        detail: blocking_problems[0]?.detail,
      })
    },
  )

  test('an obstacle that only the transaction detects: a quota that is used up', async () => {
    await rows(app, 'update organizations set runs_per_month = 0 where id = $1', [app.org_id])
    try {
      expect((await dry({ prompt: 'x' })).blocking_problems).toMatchObject([{ code: 'quota_exceeded' }])
      expectProblem(await create({ prompt: 'x' }), 402)
    } finally {
      await rows(app, 'update organizations set runs_per_month = null where id = $1', [app.org_id])
    }
  })

  test('several are reported together, in addition to the valid parts', async () => {
    const prediction = await dry({ prompt: 'x', model: 'no/model', base_ref: 'no-such-branch' })
    expect(prediction.blocking_problems.map(problem => problem.field)).toEqual(['model', 'base_ref'])
    expect(prediction).toMatchObject({
      model: null,
      agent_type: 'built_in',
      repository: { id: app.repo_id },
      base_sha: null,
    })
  })

  test('a repository of another organization is like a nonexistent one', async () => {
    const [foreign, unknown] = [
      await dry({ prompt: 'x', repo_id: other.repo_id }),
      await dry({ prompt: 'x', repo_id: 424_242 }),
    ]
    expect(foreign.blocking_problems).toEqual(unknown.blocking_problems)
    expect(foreign.repository).toBeNull()
  })

  test('an organization without repositories; an unavailable remote is only a notice, because the run is accepted', async () => {
    const who = await addOrganization(app, 'Empty')
    const dryRunAs = async ({ org_id, token }: { org_id: number; token: string }) =>
      DryRun.parse(
        (
          await app.call(
            'POST',
            `${path(org_id)}?dry_run=true`,
            { prompt: 'x' },
            { authorization: `Bearer ${token}` },
          )
        ).body,
      )
    expect((await dryRunAs(who)).blocking_problems).toMatchObject([
      { code: 'not_found', detail: expect.stringContaining('No repos found') },
    ])
    const away = await dryRunAs(other)
    expect(away).toMatchObject({ blocking_problems: [], base_sha: null, repository: { id: other.repo_id } })
    expect(away.notices.map(notice => notice.code)).toContain('base_unresolved')
  })

  test('workers that start no run, with their reason, and a repository without a commit', async () => {
    const services = unusedServices(app.db)
    const actor = { user_id: app.user_id, wire_profile: 'standard', repository_ids: null }
    const ctx = {
      ...services,
      actor,
      windows: [],
      organization_id: app.org_id,
      resolveBase: async () => ({ state: 'empty' }),
    } as unknown as Context
    await rows(app, `update workers set blocked_reason = 'bwrap is missing'`)
    const prediction = await dryRunOf(ctx, { prompt: 'x' } as Parameters<typeof dryRunOf>[1])
    expect(prediction.environment).toMatchObject({
      sandbox: null,
      blocked: 'bwrap is missing',
      network: 'none',
    })
    expect(prediction.blocking_problems).toMatchObject([
      { code: 'workers_blocked', detail: expect.stringContaining('bwrap is missing') },
      { code: 'empty_repository' },
    ])
    await rows(app, 'update workers set blocked_reason = null, seen_at = $1', [new Date(Date.now() - 60_000)])
    const alone = await dry({ prompt: 'x' })
    expect(alone.blocking_problems).toMatchObject([
      { code: 'workers_blocked', detail: expect.stringContaining('no worker is running') },
    ])
  })
})

describe('400', () => {
  test('an invalid request, as without dry_run', async () => {
    for (const value of ['1', '', 'TRUE', 'yes'])
      expectProblem(await create({ prompt: 'x' }, `?dry_run=${value}`), 400, 'query.dry_run')
    expectProblem(await create({ prompt: 'x' }, '?dry_run=true&dry_run=true'), 400, 'query.dry_run')
    for (const query of ['?dry_run=true', '/dry-run'])
      expectProblem(await create({ prompt: '', tags: 7 }, query), 400, 'body.prompt', 'body.tags')
  })
})

describe('403', () => {
  test('another organization', async () => {
    const before = await written()
    for (const query of ['?dry_run=true', '/dry-run'])
      expectProblem(await app.call('POST', `${path(other.org_id)}${query}`, { prompt: 'x' }), 403)
    expect(await written()).toEqual(before)
  })
})
