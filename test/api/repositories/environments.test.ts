import { afterAll, beforeAll, expect, test } from 'vitest'
import { EnvironmentList } from '../../../src/contract/repositories/environments.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addEnvironment, addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from '../members/people.ts'

let app: App
let other: Tenant
let run_id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  run_id = (await createRun(app, { prompt: 'x' })).id
})
afterAll(() => app[Symbol.asyncDispose]())

const at = (more = '', repo_id = app.repo_id) =>
  `/v1/organizations/${app.org_id}/repos/${repo_id}/environments${more}`
const add = (name: string) =>
  addEnvironment(app.db, { organization_id: app.org_id, repository_id: app.repo_id, run_id }, name)
const ids = async () => (await app.call('GET', at())).body.items.map((item: { id: number }) => item.id)

test('200: lists environments, newest first; drops one, then all, and the audit log has each', async () => {
  expect((await app.call('GET', at())).body).toEqual({ items: [] })
  const [a, b, c] = [await add('a'), await add('b'), await add('c')]
  const { status, body } = await app.call('GET', at())
  expect({
    status,
    ids: EnvironmentList.strict()
      .parse(body)
      .items.map(({ id }) => id),
  }).toEqual({ status: 200, ids: [c, b, a] })
  expect(body.items[0]).toMatchObject({
    repo_id: app.repo_id,
    base_ref: 'c',
    made_by_run: run_id,
    uses: 1,
    machine: 'elsewhere',
  })
  expect(await app.call('DELETE', at(`/${b}`))).toMatchObject({ status: 200, body: { dropped: 1 } })
  expect(await ids()).toEqual([c, a])
  expect((await app.call('DELETE', at())).body).toEqual({ dropped: 2 })
  expect((await app.call('DELETE', at())).body).toEqual({ dropped: 0 })
  const reported = await rows(
    app,
    `select detail
      from audit_entries
      where action = 'environments.dropped'
      order by id`,
  )
  expect(reported.map(({ detail }) => JSON.parse(detail))).toEqual([
    { environment_id: b, dropped: 1 },
    { environment_id: null, dropped: 2 },
    { environment_id: null, dropped: 0 },
  ])
})

test('400, 403 and 404, and nothing is dropped', async () => {
  const mine = await add('mine')
  const reader = await addPerson(app, 'READER')
  const before = await contents(app)
  expectProblem(await app.call('DELETE', at('/x')), 400)
  expectProblem(await app.call('DELETE', at('/424242')), 404)
  expectProblem(await app.call('DELETE', at(`/${other.environment_id}`)), 404)
  expectProblem(await app.call('DELETE', at('', other.repo_id)), 404)
  expectProblem(await app.call('GET', at('', other.repo_id)), 404)
  expect((await reader.request('GET', `/repos/${app.repo_id}/environments`)).status).toBe(200)
  expectProblem(await reader.request('DELETE', `/repos/${app.repo_id}/environments/${mine}`), 403)
  expectProblem(await reader.request('DELETE', `/repos/${app.repo_id}/environments`), 403)
  expect(await contents(app)).toEqual(before)
})
