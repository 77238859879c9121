import { afterAll, beforeAll, expect, test } from 'vitest'
import { MessageImages } from '../../../src/contract/runs/message-images.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

const GIF = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAC'
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let app: App
let other: Tenant
let id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  id = (await createRun(app, { prompt: 'x', images: [GIF, PNG] })).id
})
afterAll(() => app[Symbol.asyncDispose]())

const get = (query: string, run_id = id, org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/agent/run/${run_id}/images${query}`)

test('200: the images of a message are returned as they were sent', async () => {
  const { status, body } = await get('?seq=1')
  expect(status).toBe(200)
  expect(MessageImages.strict().parse(body)).toEqual({ agent_run_id: id, seq: 1, images: [GIF, PNG] })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'y',
    images: [PNG],
  })
  expect((await get('?seq=2')).body.images).toEqual([PNG])
  expect((await get('?seq=3')).body.images).toEqual([])
})

test('a run of another organization is like a nonexistent one, and the entry must be named', async () => {
  expectProblem(await get('?seq=1', other.run_id), 404)
  expectProblem(await get('?seq=1', 424_242), 404)
  for (const query of ['', '?seq=0', '?seq=x'])
    expect(expectProblem(await get(query), 400).errors[0]?.loc).toEqual(['query', 'seq'])
})
