import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { allLogs, createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from './put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const resume = (id: number | string, body: unknown, org_id = app.org_id) =>
  app.call('POST', `/v1/organizations/${org_id}/agent/run/${id}/resume`, body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'first' })
  await putRun(app, id, status)
  return id as number
}

describe('200', () => {
  test.each([
    ['prompt', { prompt: ' go on ' }],
    ['instruction, as one existing client calls it', { instruction: 'go on', context: {} }],
    ['both: the prompt wins', { prompt: 'go on', instruction: 'other' }],
    ['prompt null beside an instruction', { prompt: null, instruction: 'go on' }],
  ])('%s', async (_, body) => {
    const id = await newRun('completed')
    const response = await resume(id, body)
    expect(response.status).toBe(200)
    expect(AgentRun.strict().parse(response.body)).toMatchObject({
      id,
      status: 'queued',
      turn: 2,
      total_logs: 2,
    })
    expect((await allLogs(app, id)).at(-1).observation).toMatchObject({ text: 'go on', mode: 'prompt' })
  })

  test('all other options are as in the body of resume: mode, images, model, budget; the run is that of the path', async () => {
    const [id, apart] = [await newRun('running'), await newRun('completed')]
    const image = 'data:image/png;base64,AAAA'
    const body = {
      agent_run_id: apart,
      prompt: 'x',
      mode: 'enqueue',
      images: [image],
      model: 'scripted/playbook',
      budget: { max_steps: 7 },
    }
    expect((await resume(id, body)).body).toMatchObject({ id, status: 'running', budget: { max_steps: 7 } })
    expect(await rows(app, 'select mode, images from messages where run_id = $1 and seq = 2', [id])).toEqual([
      { mode: 'enqueue', images: JSON.stringify([image]) },
    ])
  })
})

describe('400', () => {
  test.each([
    [{}, 'prompt'],
    [{ prompt: null }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: 7 }, 'prompt'],
    [{ instruction: ' ' }, 'instruction'],
    [{ prompt: 'x', mode: 'shout' }, 'mode'],
    [{ prompt: 'x', model: 'no/model' }, 'model'],
  ])('%j', async (body, field) => {
    const id = await newRun('completed')
    const before = await contents(app)
    expectProblem(await resume(id, body), 400, `body.${field}`)
    expect(await contents(app)).toEqual(before)
  })

  test('an invalid run in the path', async () =>
    void expectProblem(await resume('x', { prompt: 'x' }), 400, 'path.agent_run_id'))
})

describe('403 and 404', () => {
  test("another organization's run, by its own path and by ours", async () => {
    const before = await contents(app)
    expectProblem(await resume(other.run_id, { prompt: 'x' }, other.org_id), 403)
    const foreign = expectProblem(await resume(other.run_id, { prompt: 'x' }), 404)
    const unknown = expectProblem(await resume(424_242, { prompt: 'x' }), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test('a banned run', async () => {
    const id = await newRun('completed')
    await rows(app, 'update runs set banned = true where id = $1', [id])
    expect(expectProblem(await resume(id, { prompt: 'x' }), 409).code).toBe('invalid_transition')
  })
})
