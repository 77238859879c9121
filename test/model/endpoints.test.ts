import { describe, expect, test } from 'vitest'
import { type ModelSettings, model_apis } from '../../src/contract/model-settings.ts'
import { createModelCatalog } from '../../src/model/catalog.ts'
import { startFakeAnthropic } from './fake-anthropic.ts'
import { startFakeGoogle } from './fake-google.ts'
import { startFakeOpenAI } from './fake-openai.ts'
import { KEY, request } from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

const servers = {
  'anthropic-messages': startFakeAnthropic,
  'openai-responses': startFakeOpenAI,
  'openai-chat': startFakeOpenAI,
  'google-generate-content': startFakeGoogle,
}
const paths = {
  'anthropic-messages': '/v1/messages',
  'openai-responses': '/v1/responses',
  'openai-chat': '/v1/chat/completions',
  'google-generate-content': '/v1beta/models/prod:streamGenerateContent?alt=sse',
}
const price = { input: '1', cached: '0.1', cache_write: '1.25', output: '4' }

describe.each(model_apis.map(api => ({ api })))('a model of AGENTRUN_MODELS with $api', ({ api }) => {
  test('is called at its address, by its name there, with its key, at the price of its entry', async () => {
    const usage = { input: 1_000_000, output: 100_000, cached: 500_000 }
    await using server = await servers[api](() => ({ text: 'ok', usage }))
    const settings: ModelSettings = {
      api,
      base_url: server.base_url,
      api_key: KEY,
      name: 'prod',
      price,
      context_tokens: 64_000,
    }
    const catalog = createModelCatalog({ default_model: null, models: { 'azure/gpt-6.1-sol': settings } })
    const model = catalog.get('azure/gpt-6.1-sol')
    expect(model).toMatchObject({
      context_tokens: 64_000,
      max_output_tokens: null,
      tool_family: 'apply_patch',
    })
    const response = await model?.call(request())
    expect(response).toMatchObject({ text: 'ok', usage: { cost_usd: '0.95', cached_tokens: 500_000 } })
    const [seen] = server.requests
    expect(seen?.path).toBe(paths[api])
    expect(Object.values(seen?.headers ?? {}).join(' ')).toContain(KEY)
    if (api !== 'google-generate-content') expect(seen?.body.model).toBe('prod')
  })

  test('that needs no key is called without the one of another provider', async () => {
    await using server = await servers[api](() => ({ text: 'ok' }))
    const settings: ModelSettings = { api, base_url: server.base_url }
    const catalog = createModelCatalog({
      default_model: null,
      anthropic: { api_key: KEY },
      openai: { api_key: KEY },
      google: { api_key: KEY },
      models: { 'local/any': settings },
    })
    expect(await catalog.get('local/any')?.call(request())).toMatchObject({
      text: 'ok',
      usage: { cost_usd: null },
    })
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain(KEY)
  })
})

test('a deployment of any name thinks with its effort, and gives its sealed reasoning back', async () => {
  await using server = await startFakeOpenAI(() => ({ text: 'ok', reasoning: 'hm' }))
  const settings: ModelSettings = {
    api: 'openai-responses',
    base_url: server.base_url,
    api_key: KEY,
    name: 'prod',
    reasoning_effort: 'low',
  }
  const catalog = createModelCatalog({ default_model: null, models: { 'azure/gpt-6.1-sol': settings } })
  await catalog.get('azure/gpt-6.1-sol')?.call(request())
  const reasoning = { effort: 'low', summary: 'auto' }
  expect(server.requests[0]?.body).toMatchObject({
    reasoning,
    include: ['reasoning.encrypted_content'],
    store: false,
  })
})

describe('the list of models', () => {
  const keys = { anthropic: { api_key: 'a' }, openai_compatible: { base_url: 'http://127.0.0.1:9/v1' } }

  test('has those of AGENTRUN_MODELS that can be called, first and by their labels', () => {
    const models: Record<string, ModelSettings> = {
      'openai-compatible/qwen3': { label: 'Qwen 3' },
      'openai/gpt-9': {},
      'bedrock/claude': { api: 'anthropic-messages', base_url: 'http://127.0.0.1:9' },
      'anthropic/claude-opus-5': { label: 'Ours' },
    }
    const list = createModelCatalog({ ...keys, default_model: null, models }).list()
    expect(list.slice(0, 3).map(({ id, label, provider }) => [id, label, provider])).toEqual([
      ['openai-compatible/qwen3', 'Qwen 3', 'openai-compatible'],
      ['bedrock/claude', 'claude', 'bedrock'],
      ['anthropic/claude-opus-5', 'Ours', 'anthropic'],
    ])
    expect(list.filter(({ id }) => id === 'anthropic/claude-opus-5')).toHaveLength(1)
    expect(list.some(({ id }) => id === 'openai/gpt-9')).toBe(false)
  })

  test('an entry changes what it names of a known model, and nothing else', () => {
    const models: Record<string, ModelSettings> = {
      'anthropic/claude-opus-5': { max_output_tokens: 16_000, reasoning_effort: null },
    }
    const changed = createModelCatalog({ ...keys, default_model: null, models }).get(
      'anthropic/claude-opus-5',
    )
    const before = createModelCatalog({ ...keys, default_model: null }).get('anthropic/claude-opus-5')
    const tokens = { input_tokens: 1_000, output_tokens: 1_000 }
    expect(changed).toMatchObject({
      context_tokens: 1_000_000,
      max_output_tokens: 16_000,
      reasoning_effort: null,
    })
    expect(changed?.price(tokens)).toBe(before?.price(tokens))
    expect(before).toMatchObject({
      max_output_tokens: 128_000,
      reasoning_effort: 'high',
      tool_family: 'edit',
    })
  })
})
