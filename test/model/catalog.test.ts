import { afterEach, expect, test } from 'vitest'
import { createModelCatalog } from '../../src/model/catalog.ts'

const keys = {
  anthropic: { api_key: 'a' },
  openai: { api_key: 'o' },
  google: { api_key: 'g' },
  openai_compatible: { base_url: 'http://127.0.0.1:9/v1' },
}
const variables = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']

afterEach(() => {
  for (const name of variables) delete process.env[name]
})

test('without any key there is the scripted model, and it is the default', () => {
  const catalog = createModelCatalog({ default_model: null })
  expect(catalog.default_model).toBe('scripted/playbook')
  expect(catalog.list()).toEqual([expect.objectContaining({ id: 'scripted/playbook', scripted: true })])
  expect(catalog.get('scripted/playbook')).toMatchObject({
    id: 'scripted/playbook',
    scripted: true,
    context_tokens: null,
  })
})

test('a provider without a key has no models, regardless of the environment', () => {
  for (const name of variables) process.env[name] = 'from-the-environment'
  const catalog = createModelCatalog({ default_model: null })
  for (const id of [
    'anthropic/claude-sonnet-5-5',
    'openai/gpt-6.1-sol',
    'google/gemini-3.8-flash',
    'openai-compatible/x',
  ])
    expect(catalog.get(id)).toBeNull()
  expect(catalog.list()).toHaveLength(1)
})

test('the default is the configured one, else a known model of the first provider with a key', () => {
  expect(createModelCatalog({ ...keys, default_model: 'openai-compatible/local' }).default_model).toBe(
    'openai-compatible/local',
  )
  const { anthropic, openai, google } = keys
  for (const options of [{ anthropic, openai, google }, { openai, google }, { google }]) {
    const catalog = createModelCatalog({ ...options, default_model: null })
    expect(catalog.list().map(model => model.id)).toContain(catalog.default_model)
    expect(catalog.get(catalog.default_model)?.context_tokens).toBeGreaterThan(100_000)
    expect(catalog.default_model.split('/')[0]).toBe(Object.keys(options)[0])
  }
  expect(
    createModelCatalog({ default_model: null, openai_compatible: keys.openai_compatible }).default_model,
  ).toBe('scripted/playbook')
})

test('every listed model can be used, except the prefix of open-ended names', () => {
  const catalog = createModelCatalog({ ...keys, default_model: null })
  const ids = catalog.list().map(model => model.id)
  expect(ids).toContain('openai-compatible/')
  for (const id of ids) {
    const model = catalog.get(id)
    if (id.endsWith('/')) expect(model).toBeNull()
    else expect(model).toMatchObject({ id, scripted: id === 'scripted/playbook' })
  }
})

test('a configured default that is not among the known models is listed by its name', () => {
  for (const id of ['openai-compatible/org/qwen:14b', 'anthropic/claude-next-9']) {
    const [first] = createModelCatalog({ ...keys, default_model: id }).list()
    expect(first).toEqual({
      id,
      label: id.slice(id.indexOf('/') + 1),
      provider: id.split('/')[0],
      scripted: false,
    })
  }
  const unusable = createModelCatalog({ default_model: 'openai/gpt-9' }).list()
  expect(unusable.map(model => model.id)).toEqual(['scripted/playbook'])
})

test('names are open: new models of a provider, and any name of a compatible server, slashes included', () => {
  const catalog = createModelCatalog({ ...keys, default_model: null })
  for (const id of [
    'anthropic/claude-next-9',
    'openai/ft:gpt-5:org',
    'openai-compatible/meta-llama/Llama-3.1-70B',
    'openai-compatible/qwen2.5:14b',
  ]) {
    expect(catalog.get(id)).toMatchObject({ id, scripted: false, context_tokens: null })
  }
})

test.each([
  '',
  '/',
  'gpt-5',
  'scripted',
  'scripted/other',
  'openai/',
  'openai-compatible/',
  'google/../../v1/files',
  'openai/a b',
  'unknown/model',
  'constructor/x',
  `openai/${'x'.repeat(201)}`,
])('%j is not a model', id => expect(createModelCatalog({ ...keys, default_model: null }).get(id)).toBeNull())
