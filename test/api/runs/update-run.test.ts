import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun, statuses } from './put-run.ts'

let app: App
let other: Tenant
let id: number
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    OPENAI_API_KEY: 'never-used',
    AGENTRUN_DEFAULT_MODEL: 'scripted/playbook',
  })
  other = await addTenant(app)
})
beforeEach(async () => {
  id = (
    await createRun(app, {
      prompt: 'x',
      title: 'old',
      tags: ['old'],
      budget: { max_cost_usd: 5, max_steps: 9 },
    })
  ).id
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (run_id: number, org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run/${run_id}`
const change = (body: unknown, run_id = id) => app.call('PATCH', path(run_id), body)
const listed = async (query = '') => {
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs${query}`)
  return body.items.map((run: { id: number }) => run.id) as number[]
}

describe('200', () => {
  test('named fields are changed, others are unchanged', async () => {
    const before = (await app.call('GET', path(id))).body
    const titled = await change({ title: ' new ' })
    expect(titled.status).toBe(200)
    expect(AgentRun.strict().parse(titled.body)).toEqual({
      ...before,
      title: 'new',
      summary: 'new',
      updated_at: titled.body.updated_at,
    })
    expect((await change({ tags: ['a', 'b', 'a'] })).body).toMatchObject({ title: 'new', tags: ['a', 'b'] })
    expect((await change({ tags: [] })).body.tags).toEqual([])
    expect((await change({ model: 'openai/gpt-5' })).body.model).toBe('openai/gpt-5')
    expect((await change({ archived: true })).body).toMatchObject({ archived: true, title: 'new' })
    expect((await change({})).body).toMatchObject({ archived: true, title: 'new', model: 'openai/gpt-5' })
  })

  test('a named limit of the budget is set, null removes it, the others are unchanged', async () => {
    expect((await change({ budget: { max_steps: 20 } })).body.budget).toMatchObject({
      max_cost_usd: '5',
      max_steps: 20,
    })
    expect((await change({ budget: { max_cost_usd: null } })).body.budget).toMatchObject({
      max_cost_usd: null,
      max_steps: 20,
    })
    expect((await change({ budget: { max_cost_usd: '0.000001', max_steps: null } })).body.budget).toEqual({
      max_cost_usd: '0.000001',
      max_steps: null,
      max_active_seconds: null,
      max_wall_seconds: null,
    })
  })

  test.each(statuses)('a run that is %s can be configured, and its status is unchanged', async status => {
    await putRun(app, id, status)
    expect(await change({ title: 'other' })).toMatchObject({ status: 200, body: { title: 'other', status } })
  })

  test('F101 what only the service writes is ignored', async () => {
    const forged = {
      status: 'completed',
      result: 'forged',
      organization_id: other.org_id,
      user_id: other.user_id,
      total_logs: 9,
      metadata: { a: 1 },
    }
    const { body } = await change({ ...forged, title: 'mine' })
    expect(body).toMatchObject({
      title: 'mine',
      status: 'queued',
      result: '',
      organization_id: app.org_id,
      user_id: app.user_id,
      total_logs: 1,
      metadata: null,
    })
  })
})

test('a run that is resumed is listed again', async () => {
  await change({ archived: true })
  expect(await listed()).not.toContain(id)
  const resumed = await app.call('POST', `${path(id)}/resume`, { prompt: '```playbook\n- answer: ok\n```' })
  expect(resumed).toMatchObject({ status: 200, body: { archived: false } })
  expect(await listed()).toContain(id)
})

describe.each(['archive', 'unarchive'])('%s', verb => {
  const call = (body: unknown) => app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${verb}`, body)

  test('200: the run leaves the list or returns to it, and a second request has no further effect', async () => {
    await change({ archived: verb !== 'archive' })
    for (let i = 0; i < 2; i++) {
      const response = await call({ agent_run_id: id })
      expect(response.status).toBe(200)
      expect(AgentRun.strict().parse(response.body)).toMatchObject({
        id,
        archived: verb === 'archive',
        status: 'queued',
      })
      expect((await listed()).includes(id)).toBe(verb !== 'archive')
      expect((await listed('?archived=true')).includes(id)).toBe(verb === 'archive')
    }
  })

  test('400 names the field', async () =>
    void expectProblem(await call({ agent_run_id: 'x' }), 400, 'body.agent_run_id'))

  test("404: another organization's run in the body, and it is unchanged", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await call({ agent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await call({ agent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('400', () => {
  test('names every invalid field, and nothing is written', async () => {
    const before = await contents(app)
    const wrong = { title: '', tags: [7], archived: 'yes', budget: { max_wall_seconds: 0 }, model: '' }
    const fields = ['title', 'tags.0', 'archived', 'budget.max_wall_seconds', 'model'].map(
      name => `body.${name}`,
    )
    expectProblem(await change(wrong), 400, ...fields)
    expectProblem(await change({ title: 'a\0' }), 400, 'body.title')
    expectProblem(await change({ title: null }), 400, 'body.title')
    expectProblem(await change([]), 400, 'body')
    expect(expectProblem(await change({ model: 'no/model' }), 400, 'body.model').detail).toContain(
      'scripted/playbook',
    )
    expect(await contents(app)).toEqual(before)
  })
})

describe('403 and 404', () => {
  test("another organization's run cannot be changed by its own path or by ours", async () => {
    const before = await contents(app)
    expectProblem(await app.call('PATCH', path(other.run_id, other.org_id), { title: 'mine' }), 403)
    expectProblem(await change({ title: 'mine' }, other.run_id), 404)
    expectProblem(await change({ title: 'mine' }, 424_242), 404)
    expect(await contents(app)).toEqual(before)
  })
})
