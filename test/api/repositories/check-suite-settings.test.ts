import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CheckSuiteSettings } from '../../../src/contract/pull-requests/check-suite-settings.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const call = (method: 'GET' | 'PUT', query: string, body?: unknown) =>
  app.call(method, `/v1/organizations/${app.org_id}/repos/check-suite-settings${query}`, body)
const own = () => `?repo_id=${app.repo_id}`
const defaults = {
  check_retry_count: 3,
  ignored_checks: [],
  check_retry_counts: {},
  custom_prompts: {},
  high_priority_apps: [],
  available_check_suite_names: [],
}

describe('200', () => {
  test('the defaults at first, then the set values; null or absent ones are unchanged', async () => {
    const { status, body } = await call('GET', own())
    expect({ status, body: CheckSuiteSettings.strict().parse(body) }).toEqual({ status: 200, body: defaults })
    let wanted: object = defaults
    const changes: object[] = [
      { check_retry_count: 0 },
      { ignored_checks: ['lint', 'ünïcode 😀'] },
      { check_retry_counts: { build: 10, constructor: 0 } },
      { custom_prompts: { build: 'Look at the log.', empty: '' } },
      { high_priority_apps: ['ci'] },
      { ignored_checks: [], check_retry_counts: {} },
    ]
    for (const change of changes) {
      wanted = { ...wanted, ...change }
      expect(await call('PUT', own(), change)).toMatchObject({ status: 200, body: wanted })
      expect((await call('GET', own())).body).toEqual(wanted)
    }
    const nothing = Object.fromEntries(Object.keys(defaults).map(key => [key, null]))
    for (const body of [{}, nothing]) expect((await call('PUT', own(), body)).body).toEqual(wanted)
  })
})

describe('400', () => {
  test('a missing repository, or an invalid id', async () => {
    for (const query of ['', '?repo_id=', '?repo_id=one', '?repo_id=1&repo_id=2']) {
      expectProblem(await call('GET', query), 400, 'query.repo_id')
      expectProblem(await call('PUT', query, {}), 400, 'query.repo_id')
    }
  })

  test('values out of bounds are named, and nothing is stored', async () => {
    const before = await contents(app)
    const many = Array.from({ length: 101 }, (_, n) => `check ${n}`)
    const wrong: [string, unknown, string?][] = [
      ['check_retry_count', 11],
      ['check_retry_count', -1],
      ['check_retry_count', '1'],
      ['ignored_checks', 'lint'],
      ['ignored_checks', [1], 'ignored_checks.0'],
      ['ignored_checks', many],
      ['check_retry_counts', { a: 11 }, 'check_retry_counts.a'],
      ['check_retry_counts', Object.fromEntries(many.map(name => [name, 1]))],
      ['custom_prompts', { a: 1 }, 'custom_prompts.a'],
      ['custom_prompts', { a: 'x\0' }, 'custom_prompts.a'],
      ['high_priority_apps', [''], 'high_priority_apps.0'],
    ]
    for (const [key, value, field = key] of wrong)
      expectProblem(
        await call('PUT', own(), { high_priority_apps: ['x'], [key]: value }),
        400,
        `body.${field}`,
      )
    expect(await contents(app)).toEqual(before)
  })
})

describe('404', () => {
  test("another organization's repository, with the message for a nonexistent one", async () => {
    const before = await contents(app)
    for (const [method, body] of [['GET'], ['PUT', {}]] as const) {
      const foreign = expectProblem(await call(method, `?repo_id=${other.repo_id}`, body), 404)
      const unknown = expectProblem(await call(method, '?repo_id=424242', body), 404)
      expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    }
    expect(await contents(app)).toEqual(before)
  })
})
