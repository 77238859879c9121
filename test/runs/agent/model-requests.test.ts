import { expect, test } from 'vitest'
import type { SeenRequest } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, finish, PRICED, responses, shell, startCodingApp } from '../coding-app.ts'

const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id,
    prompt: 'Go on.',
    ...more,
  })
const setOrganization = (app: CodingApp, settings: object) =>
  app.call('PATCH', `/v1/organizations/${app.org_id}`, settings)
const efforts = (requests: SeenRequest[]) =>
  requests.map(({ body }) => (body.reasoning as { effort?: string } | undefined)?.effort)

test('the effort of a run is in each of its requests, a resume changes it, and every request has the key of the run', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('true')), finish('Done.'), finish('Done again.')),
  )
  const { id } = await createRun(app, { prompt: 'x', model: PRICED.model, reasoning_effort: 'high' })
  await awaitEnd(app, id)
  await resume(app, id, { reasoning_effort: 'low' })
  await awaitRun(app, id, run => run.status === 'completed' && run.turn === 2)
  expect(efforts(app.model.requests)).toEqual(['high', 'high', 'low'])
  expect(app.model.requests.map(({ body }) => body.prompt_cache_key)).toEqual(Array(3).fill(`agentrun-${id}`))
  expect(app.model.requests.map(({ body }) => body.max_output_tokens)).toEqual([64_000, 64_000, 40_000])
})

test('a run without an effort takes that of the organization, and otherwise the default of its model', async () => {
  await using app = await startCodingApp(responses(finish('Done.'), finish('Done.')))
  await setOrganization(app, { reasoning_effort: 'xhigh' })
  await awaitEnd(app, (await createRun(app, { prompt: 'x', model: PRICED.model })).id)
  await setOrganization(app, { reasoning_effort: null })
  await awaitEnd(app, (await createRun(app, { prompt: 'x', model: PRICED.model })).id)
  expect(efforts(app.model.requests)).toEqual(['xhigh', 'medium'])
})

test('a limit that a server names ends no run, and later runs keep to it', async () => {
  await using app = await startCodingApp(({ body }) =>
    Number(body.max_tokens) > 8_192
      ? {
          status: 400,
          body: {
            error: { message: 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]' },
          },
        }
      : finish('Done.'),
  )
  for (let run = 0; run < 2; run++)
    expect(await awaitEnd(app, (await createRun(app, { prompt: 'x' })).id)).toMatchObject({
      status: 'completed',
      result: 'Done.',
    })
  expect(app.model.requests.map(({ body }) => body.max_tokens)).toEqual([48_000, 8_192, 8_192])
})

test('no trace has the key of a model of AGENTRUN_MODELS', async () => {
  const AZURE_KEY = 'key-of-the-deployment-0123456789'
  const AGENTRUN_MODELS = JSON.stringify({
    'azure/x': { api: 'openai-responses', base_url: 'http://127.0.0.1:9/v1', api_key_env: 'AZURE_KEY' },
  })
  await using app = await startCodingApp(responses(calls(shell(`echo ${AZURE_KEY}`)), { text: 'Done.' }), {
    AGENTRUN_MODELS,
    AZURE_KEY,
  })
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  const trace = JSON.stringify(await allLogs(app, id))
  expect(trace).toContain('[redacted:AZURE_KEY]')
  expect(trace).not.toContain(AZURE_KEY)
})

test('a model of AGENTRUN_MODELS is listed, has its price and keeps to its limits', async () => {
  const settings = {
    label: 'Our model',
    context_tokens: 64_000,
    max_output_tokens: 20_000,
    price: { input: 1, cached: '0.1', output: 2 },
  }
  const AGENTRUN_MODELS = JSON.stringify({ 'openai-compatible/ours': settings })
  await using app = await startCodingApp(
    responses({ ...finish('Done.'), usage: { input: 10_000, output: 1_000, cached: 7_500 } }),
    {
      AGENTRUN_MODELS,
    },
  )
  const { providers } = (await app.call('GET', `/v1/organizations/${app.org_id}/models`)).body
  expect(providers[0]).toMatchObject({ name: 'openai-compatible' })
  expect(providers[0].models).toContainEqual({ label: 'Our model', value: 'openai-compatible/ours' })
  const run = await awaitEnd(app, (await createRun(app, { prompt: 'x', model: 'openai-compatible/ours' })).id)
  expect(run.usage).toMatchObject({
    input_tokens: 10_000,
    cached_tokens: 7_500,
    cached_share: 0.75,
    cost_usd: '0.00525',
  })
  expect(app.model.requests[0]?.body).toMatchObject({ model: 'ours', max_tokens: 20_000 })
})
