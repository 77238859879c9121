import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  OrganizationHealth,
  type OrganizationLimit,
  OrganizationLimits,
} from '../../../src/contract/organizations/organization-limits.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_STANDARD: '900/30',
    AGENTRUN_RUN_MAX_STEPS: '77',
  })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const get = (what: 'limits' | 'health', org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/${what}`)

test('200: limits have their values, what is used of them, and where they are set', async () => {
  await app.call('PATCH', `/v1/organizations/${app.org_id}`, { max_concurrent_runs: 3, runs_per_month: 50 })
  await createRun(app, { prompt: 'x' })
  const { items } = OrganizationLimits.strict().parse((await get('limits')).body)
  const limit = (name: string): OrganizationLimit | undefined => items.find(item => item.name === name)
  expect(limit('concurrent_runs')).toMatchObject({
    value: 3,
    used: 0,
    set_by: 'organization',
    setting: 'max_concurrent_runs',
  })
  expect(limit('runs_per_month')).toMatchObject({ value: 50, used: 1, unit: 'runs' })
  expect(limit('runs_per_month')?.resets_at).toMatch(/^\d{4}-\d\d-01T00:00:00\.000Z$/)
  expect(limit('budget_usd_per_month')).toMatchObject({ value: null, used: '0', unit: 'usd' })
  expect(limit('limit_standard')).toMatchObject({
    value: 900,
    window_seconds: 30,
    per: 'token',
    setting: 'AGENTRUN_LIMIT_STANDARD',
  })
  expect(limit('run_max_steps')).toMatchObject({ value: 77, per: 'turn', set_by: 'operator' })
  expect(new Set(items.map(({ name }) => name)).size).toBe(items.length)
})

test('200: health finds what keeps runs from working, with its fix', async () => {
  const health = async () => OrganizationHealth.strict().parse((await get('health')).body)
  const check = async (name: string) => (await health()).checks.find(one => one.check === name)
  expect(await check('workers')).toMatchObject({ state: 'broken', fix: 'no worker is running' })
  expect(await check('repositories')).toMatchObject({
    state: 'warning',
    fix: 'agentrun repos add URL --default',
  })
  expect(await check('models')).toMatchObject({ state: 'warning' })
  await rows(app, `update organizations set default_model = 'openai/gone' where id = $1`, [app.org_id])
  expect(await check('models')).toMatchObject({ state: 'broken' })
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/TOKEN`, { value: 'a-secret-value' })
  expect(await check('secrets')).toMatchObject({ state: 'ok' })
  await rows(app, `update secrets set key_id = 'another'`)
  expect(await check('secrets')).toMatchObject({ state: 'broken', detail: expect.stringContaining('TOKEN') })
  expect((await health()).broken).toBe(3)
})

test('403: another organization', async () => {
  expectProblem(await get('limits', other.org_id), 403)
  expectProblem(await get('health', other.org_id), 403)
})
