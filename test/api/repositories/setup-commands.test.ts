import { afterAll, beforeAll, expect, test } from 'vitest'
import { SetupCommandSettings } from '../../../src/contract/repositories/setup-commands.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from '../members/people.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const at = (repo_id = app.repo_id) => `/v1/organizations/${app.org_id}/repos/${repo_id}/setup-commands`
const put = (body: unknown) => app.call('PUT', at(), body)
const get = () => app.call('GET', at())
const repository = async () =>
  (await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}`)).body

test('200: none at first, then the configured ones, with defaults', async () => {
  const { status, body } = await get()
  const nothing = {
    commands: [],
    maintenance_commands: [],
    variables: {},
    on_failure: 'fail',
    timeout_seconds: 600,
    updated_at: null,
    updated_by: null,
  }
  expect({ status, body: SetupCommandSettings.strict().parse(body) }).toEqual({ status: 200, body: nothing })
  const set = {
    commands: ['npm ci', 'a=1\necho $a'],
    maintenance_commands: ['npm run build'],
    variables: { NODE_ENV: 'test', empty: '' },
    on_failure: 'continue',
    timeout_seconds: 60,
  }
  expect(await put(set)).toMatchObject({ status: 200, body: { ...set, updated_by: app.user_id } })
  expect((await get()).body).toMatchObject(set)
  expect((await repository()).setup_status).toBe('SETUP')
  expect((await put({ commands: [' make '] })).body).toMatchObject({
    ...nothing,
    commands: ['make'],
    updated_at: expect.any(String),
    updated_by: app.user_id,
  })
  expect((await put({ commands: [] })).body).toMatchObject({ commands: [] })
  expect((await repository()).setup_status).toBe('NOT_SETUP')
})

test('400: an invalid command, variable or value, and nothing changes', async () => {
  const before = await contents(app)
  expectProblem(await put({}), 400, 'body.commands')
  for (const command of ['', '  ', 1, null, 'a\0b', 'x'.repeat(10_001)])
    expectProblem(await put({ commands: ['ls', command] }), 400, 'body.commands.1')
  expectProblem(await put({ commands: Array(51).fill('ls') }), 400, 'body.commands')
  expectProblem(await put({ commands: [], variables: { 'a-b': 'x' } }), 400)
  expectProblem(await put({ commands: [], variables: { a: 1 } }), 400, 'body.variables.a')
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`v${i}`, '']))
  expectProblem(await put({ commands: [], variables: many }), 400, 'body.variables')
  for (const name of ['PATH', 'LD_PRELOAD', 'HTTPS_PROXY', 'GIT_DIR'])
    expectProblem(await put({ commands: [], variables: { [name]: 'x' } }), 400, `body.variables.${name}`)
  expectProblem(await put({ commands: [], on_failure: 'ask' }), 400, 'body.on_failure')
  for (const timeout_seconds of [9, 3_601, 1.5, '60'])
    expectProblem(await put({ commands: [], timeout_seconds }), 400, 'body.timeout_seconds')
  expect(await contents(app)).toEqual(before)
})

test('403 without permission, 404 for a repository of another organization; the audit log has each change without its text', async () => {
  const reader = await addPerson(app, 'READER')
  const path = `/repos/${app.repo_id}/setup-commands`
  expect((await reader.request('GET', path)).status).toBe(200)
  expectProblem(await reader.request('PUT', path, { commands: [] }), 403)
  expectProblem(await app.call('PUT', at(other.repo_id), { commands: [] }), 404)
  expectProblem(await app.call('GET', at(other.repo_id)), 404)
  await put({ commands: ['echo long'], variables: { A: 'x' } })
  const [last] = await rows(
    app,
    `select action, detail
      from audit_entries
      where action = 'setup_commands.updated'
      order by id desc
      limit 1`,
  )
  expect(JSON.parse(last?.detail)).toEqual({
    commands: 1,
    maintenance_commands: 0,
    variables: ['A'],
    on_failure: 'fail',
    timeout_seconds: 600,
  })
})

test('they are deleted with their repository', async () => {
  const { body } = await app.call('POST', `/v1/organizations/${app.org_id}/repos`, {
    url: 'https://git.example.com/goes.git',
  })
  await app.call('PUT', at(body.id), { commands: ['ls'] })
  expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/repos/${body.id}`)).status).toBe(200)
  expect(await rows(app, 'select 1 from setup_commands where repository_id = $1', [body.id])).toEqual([])
})
