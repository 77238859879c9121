import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (rest = '') => `/v1/organizations/${app.org_id}${rest}`
const runs = (rest = '') => path(`/agent/run${rest}`)
const setOrganization = (reasoning_effort: string | null) => app.call('PATCH', path(), { reasoning_effort })
const setRepository = (reasoning_effort: string | null) =>
  app.call('PATCH', path(`/repos/${app.repo_id}`), { reasoning_effort })
const effortOf = async (body: object) => (await createRun(app, { prompt: 'x', ...body })).reasoning_effort

test('a run takes its own effort, else that of its repository, else that of the organization, else the default of its model', async () => {
  expect(await effortOf({})).toBeNull()
  await setOrganization('low')
  expect(await effortOf({})).toBe('low')
  await setRepository('xhigh')
  expect(await effortOf({})).toBe('xhigh')
  expect(await effortOf({ repoless: true, repo_id: null })).toBe('low')
  expect(await effortOf({ reasoning_effort: 'none' })).toBe('none')
  const { body } = await app.call('POST', runs('?dry_run=true'), { prompt: 'x' })
  expect(body.reasoning_effort).toBe('xhigh')
  await setRepository(null)
  await setOrganization(null)
  expect(await effortOf({})).toBeNull()
})

test('a run keeps its effort when settings change, until a resume or an update changes it', async () => {
  const { id } = await createRun(app, { prompt: 'x', reasoning_effort: 'high' })
  await setOrganization('low')
  const shown = async () => (await app.call('GET', runs(`/${id}`))).body.reasoning_effort
  await app.call('POST', runs('/resume'), { agent_run_id: id, prompt: 'go on' })
  expect(await shown()).toBe('high')
  await app.call('POST', runs('/resume'), { agent_run_id: id, prompt: 'go on', reasoning_effort: 'max' })
  expect(await shown()).toBe('max')
  await app.call('PATCH', runs(`/${id}`), { reasoning_effort: 'minimal' })
  expect(await shown()).toBe('minimal')
  const { body } = await app.call('POST', runs('/fork'), { agent_run_id: id, from_seq: 1 })
  expect(body).toMatchObject({ source_type: 'FORK', reasoning_effort: 'minimal' })
  await app.call('PATCH', runs(`/${id}`), { reasoning_effort: null })
  expect(await shown()).toBeNull()
  await setOrganization(null)
})

test('400: an invalid effort is named, with the valid ones, and nothing is stored', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const before = await contents(app)
  for (const reasoning_effort of ['hgih', 'HIGH', '', 3, true, ['high'], {}]) {
    const { detail } = expectProblem(
      await app.call('POST', runs(), { prompt: 'x', reasoning_effort }),
      400,
      'body.reasoning_effort',
    )
    expect(detail).toContain('none, minimal, low, medium, high, xhigh, max')
    const resume = { agent_run_id: id, prompt: 'y', reasoning_effort }
    expectProblem(await app.call('POST', runs('/resume'), resume), 400, 'body.reasoning_effort')
    expectProblem(
      await app.call('PATCH', runs(`/${id}`), { title: 'z', reasoning_effort }),
      400,
      'body.reasoning_effort',
    )
  }
  expect(await contents(app)).toEqual(before)
})
