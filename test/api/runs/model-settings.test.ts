import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ModelSettingsList } from '../../../src/contract/organizations/models.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import type { FakeServer } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

const KEY = 'sk-of-the-organization-0123456789'
let app: App
let other: Tenant
let provider: FakeServer & { base_url: string }
beforeAll(async () => {
  provider = await startFakeOpenAI(({ headers }) =>
    headers.authorization === `Bearer ${KEY}`
      ? { text: `Done with ${KEY}.` }
      : { status: 401, body: { error: { message: 'wrong key' } } },
  )
  app = await startApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '1', AGENTRUN_MODEL_EVALUATIONS: '0' })
  other = await addTenant(app)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

const at = (path: string, org_id = app.org_id) => `/v1/organizations/${org_id}/models/${path}`
const settings = async (): Promise<ModelSettingsList> => (await app.call('GET', at('settings'))).body
const model = async (id: string) => (await settings()).models.find(one => one.id === id)
const coder = () => ({
  id: 'acme/coder',
  api: 'openai-chat',
  base_url: provider.base_url,
  price: { input: 1, output: '4' },
})

describe('200', () => {
  test('models are listed with limits and prices, and providers with whose key they use', async () => {
    const list = ModelSettingsList.strict().parse(await settings())
    expect(list.providers.map(one => [one.provider, one.source])).toEqual([
      ...['anthropic', 'openai', 'google', 'openai-compatible'].map(name => [name, null]),
    ])
    const known = list.models.find(one => one.provider === 'anthropic')
    expect(known).toMatchObject({
      source: 'service',
      usable: false,
      has_key: false,
      price: { input: expect.any(String) },
    })
    expect(known?.context_tokens).toBeGreaterThan(1_000)
  })

  test('a model is added, tested and used by a run at once, and its key is in no response, trace or audit entry', async () => {
    const { status, body } = await app.call('PUT', at('custom'), { ...coder(), api_key: KEY })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: 'acme/coder',
      source: 'organization',
      usable: true,
      has_key: true,
      price: { input: '1', output: '4', cached: '1' },
    })
    expect((await app.call('POST', at('test'), { model: 'acme/coder' })).body).toMatchObject({
      ok: true,
      error: null,
      cost_usd: '0.00018',
    })
    const { id } = await createRun(app, { prompt: 'x', model: 'acme/coder' })
    const run = await awaitEnd(app, id)
    expect(run).toMatchObject({ status: 'completed', model: 'acme/coder' })
    const audited = await app.call('GET', `/v1/organizations/${app.org_id}/audit-log`)
    expect(JSON.stringify(audited.body)).toContain('model.set')
    expect(JSON.stringify([run, await allLogs(app, id), audited.body, await settings(), body])).not.toContain(
      KEY,
    )
  })

  test('a later change keeps the key of the same address, and another address needs its own', async () => {
    const change = { label: 'Coder', name: 'coder-2', cache_marks: true }
    expect((await app.call('PUT', at('custom'), { ...coder(), ...change })).body).toMatchObject({
      ...change,
      has_key: true,
    })
    const moved = { ...coder(), base_url: `${provider.origin}/v2` }
    expectProblem(await app.call('PUT', at('custom'), moved), 400, 'body.api_key')
    expect((await app.call('PUT', at('custom'), { ...coder(), api_key: null })).body).toMatchObject({
      has_key: false,
    })
  })

  test('a refusal of the provider is the outcome of a test', async () => {
    const { status, body } = await app.call('POST', at('test'), { model: 'acme/coder' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ok: false, error: { code: 'auth', http_status: 401 }, cost_usd: null },
    })
  })

  test('a removed model can no longer be named', async () => {
    const { body } = await app.call('DELETE', at('custom?id=acme/coder'))
    expect(body.models.some((one: { id: string }) => one.id === 'acme/coder')).toBe(false)
    expectProblem(
      await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
        prompt: 'x',
        model: 'acme/coder',
      }),
      400,
      'body.model',
    )
    expect(await rows(app, `select 1 from secrets where name like 'AGENTRUN_MODEL_KEY%'`)).toEqual([])
  })

  test('the key of a provider makes its models usable, for this organization alone, until it is removed', async () => {
    const set = await app.call('PUT', at('providers/openai-compatible'), {
      api_key: KEY,
      base_url: provider.base_url,
    })
    expect(set.body).toMatchObject({
      provider: 'openai-compatible',
      source: 'organization',
      base_url: provider.base_url,
      updated_by: app.user_id,
    })
    expect((await app.call('POST', at('test'), { model: 'openai-compatible/any' })).body).toMatchObject({
      ok: true,
    })
    const theirs = await app.call('GET', at('settings', other.org_id), undefined, {
      authorization: `Bearer ${other.token}`,
    })
    expect(theirs.body.providers.map((one: { source: string | null }) => one.source)).toEqual([
      null,
      null,
      null,
      null,
    ])
    await app.call('PUT', at('providers/anthropic'), { api_key: KEY })
    expect(await model('anthropic/claude-sonnet-5-5')).toMatchObject({ usable: true })
    for (const name of ['anthropic', 'openai-compatible'])
      expect((await app.call('DELETE', at(`providers/${name}`))).body).toMatchObject({
        provider: name,
        source: null,
      })
    expect(await model('anthropic/claude-sonnet-5-5')).toMatchObject({ usable: false })
  })
})

describe('400', () => {
  test.each([
    ['providers/openai', {}, 'api_key'],
    ['providers/openai', { api_key: 'with a blank' }, 'api_key'],
    ['providers/openai', { api_key: KEY, base_url: 'ftp://x' }, 'base_url'],
    ['providers/openai', { api_key: KEY, base_url: 'http://169.254.169.254/v1' }, 'base_url'],
    ['providers/openai-compatible', { api_key: KEY }, 'base_url'],
    ['custom', { id: 'acme' }, 'id'],
    ['custom', { id: 'scripted/mine', api: 'openai-chat', base_url: 'https://x.example' }, 'id'],
    ['custom', { id: 'acme/coder' }, 'api'],
    ['custom', { id: 'acme/coder', api: 'openai-chat' }, 'base_url'],
    ['custom', { id: 'openai/x', api_key: KEY }, 'api_key'],
    ['custom', { id: 'openai/x', price: { input: 'much', output: '1' } }, 'price.input'],
  ])(
    '%s %j',
    async (path, body, field) =>
      void expectProblem(await app.call('PUT', at(path), body), 400, `body.${field}`),
  )

  test('an unknown provider, and a test of a model without a key', async () => {
    expectProblem(await app.call('PUT', at('providers/other'), { api_key: KEY }), 400, 'path.provider')
    expectProblem(await app.call('POST', at('test'), { model: 'openai/gpt-6.1-sol' }), 400, 'body.model')
  })
})

test('404: nothing was set', async () => {
  expectProblem(await app.call('DELETE', at('providers/google')), 404)
  expectProblem(await app.call('DELETE', at('custom?id=acme/none')), 404)
})

test('409: there are too many', async () => {
  await rows(
    app,
    `insert into organization_models (organization_id, id, settings, updated_by)
      select $1, 'acme/m' || n, '{}', $2
      from generate_series(1, 100) n`,
    [app.org_id, app.user_id],
  )
  expectProblem(await app.call('PUT', at('custom'), { id: 'openai/gpt-x' }), 409)
  expectProblem(await app.call('PUT', at('providers/google'), { api_key: KEY }), 409)
})
