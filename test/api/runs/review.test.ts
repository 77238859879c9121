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
const setOrganization = (review: string | null) => app.call('PATCH', path(), { review })
const setRepository = (review: string | null) => app.call('PATCH', path(`/repos/${app.repo_id}`), { review })
const reviewOf = async (body: object) => (await createRun(app, { prompt: 'x', ...body })).review

test('a run takes its own review, else that of its repository, else that of the organization, else the default of the service', async () => {
  expect(await reviewOf({})).toBeNull()
  await setOrganization('rules')
  expect(await reviewOf({})).toBe('rules')
  await setRepository('model')
  expect(await reviewOf({})).toBe('model')
  expect(await reviewOf({ repoless: true, repo_id: null })).toBe('rules')
  expect(await reviewOf({ review: 'rules' })).toBe('rules')
  const { body } = await app.call('POST', runs('?dry_run=true'), { prompt: 'x' })
  expect(body.review).toBe('model')
  await setRepository(null)
  await setOrganization(null)
  expect(await reviewOf({})).toBeNull()
})

test('a run keeps its review when settings change, until a resume or an update changes it; a fork inherits it', async () => {
  const { id } = await createRun(app, { prompt: 'x', review: 'rules' })
  await setOrganization('model')
  const shown = async () => (await app.call('GET', runs(`/${id}`))).body.review
  await app.call('POST', runs('/resume'), { agent_run_id: id, prompt: 'go on' })
  expect(await shown()).toBe('rules')
  await app.call('POST', runs('/resume'), { agent_run_id: id, prompt: 'go on', review: 'model' })
  expect(await shown()).toBe('model')
  await app.call('PATCH', runs(`/${id}`), { review: 'rules' })
  const { body } = await app.call('POST', runs('/fork'), { agent_run_id: id, from_seq: 1 })
  expect(body).toMatchObject({ source_type: 'FORK', review: 'rules' })
  await app.call('PATCH', runs(`/${id}`), { review: null })
  expect(await shown()).toBeNull()
  await setOrganization(null)
})

test('400: a review that is none is named, with those that are, and nothing of the request is kept', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const before = await contents(app)
  for (const review of ['off', 'MODEL', '', 3, false, ['rules'], {}]) {
    const { detail } = expectProblem(
      await app.call('POST', runs(), { prompt: 'x', review }),
      400,
      'body.review',
    )
    expect(detail).toContain('model, rules')
    expectProblem(
      await app.call('POST', runs('/resume'), { agent_run_id: id, prompt: 'y', review }),
      400,
      'body.review',
    )
    expectProblem(await app.call('PATCH', runs(`/${id}`), { title: 'z', review }), 400, 'body.review')
  }
  expect(await contents(app)).toEqual(before)
})
