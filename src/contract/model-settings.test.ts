import { expect, test } from 'vitest'
import { readModelSettings } from './model-settings.ts'

const read = (models: unknown) =>
  readModelSettings(typeof models === 'string' ? models : JSON.stringify(models))

test('a model has the settings that its entry names, and prices default to that of the input', () => {
  const qwen = {
    context_tokens: 262_144,
    max_output_tokens: 65_536,
    cache_marks: true,
    reasoning_effort: null,
    tool_family: 'edit',
  }
  const azure = {
    api: 'openai-responses',
    base_url: 'https://acme.openai.azure.com/openai/v1',
    api_key_env: 'AZURE_KEY',
    name: 'prod',
  }
  const price = {
    input: 0.25,
    output: '1.5',
    long: { over_tokens: 128_000, input: '0.5', cached: '0.05', output: 3 },
  }
  expect(
    read({ 'openai-compatible/org/qwen:30b': { ...qwen, price }, 'azure/gpt': azure, 'openai/x': {} }),
  ).toEqual({
    models: {
      'openai-compatible/org/qwen:30b': {
        ...qwen,
        price: {
          input: '0.25',
          cached: '0.25',
          cache_write: '0.25',
          output: '1.5',
          long: { over_tokens: 128_000, input: '0.5', cached: '0.05', cache_write: '0.5', output: '3' },
        },
      },
      'azure/gpt': azure,
      'openai/x': {},
    },
  })
})

test.each([
  ['not JSON', '{"a/b": ', /expected record/],
  ['an array', [], /expected record/],
  ['a name without a provider', { gpt: {} }, /^gpt .*provider\/model/],
  ['the scripted model', { 'scripted/x': {} }, /^scripted\/x .*scripted/],
  ['an unknown field', { 'openai/b': { context: 1 } }, /^openai\/b .*"context"/],
  [
    'a key in the file',
    { 'openai/b': { api: 'openai-chat', base_url: 'http://x', api_key: 'secret' } },
    /^openai\/b .*"api_key"/,
  ],
  ['an unknown API', { 'openai/b': { api: 'openai' } }, /^openai\/b, api /],
  [
    'an unknown provider without an API',
    { 'mistral/large': {} },
    /^mistral\/large, api is required, because mistral is none of anthropic, /,
  ],
  ['an API without an address', { 'openai/b': { api: 'openai-chat' } }, /^openai\/b, base_url is required/],
  ['an address without an API', { 'openai/b': { base_url: 'http://x' } }, /^openai\/b, base_url needs api/],
  [
    'an address that is none',
    { 'openai/b': { api: 'openai-chat', base_url: 'ftp://x' } },
    /^openai\/b, base_url must be an http/,
  ],
  [
    'a context that is not a number',
    { 'openai/b': { context_tokens: '200k' } },
    /^openai\/b, context_tokens /,
  ],
  ['no output', { 'openai/b': { max_output_tokens: 0 } }, /^openai\/b, max_output_tokens /],
  ['a price without output', { 'openai/b': { price: { input: 1 } } }, /^openai\/b, price, output /],
  ['a negative price', { 'openai/b': { price: { input: -1, output: 1 } } }, /^openai\/b, price, input /],
  [
    'a price in words',
    { 'openai/b': { price: { input: '1 USD', output: 1 } } },
    /^openai\/b, price, input must be US dollars/,
  ],
  [
    'an unknown effort',
    { 'openai/b': { reasoning_effort: 'hgih' } },
    /^openai\/b, reasoning_effort must be one of none, /,
  ],
  ['an unknown tool family', { 'openai/b': { tool_family: 'gpt' } }, /^openai\/b, tool_family /],
])('%s is a mistake that names the field, and never shows a value', (_name, models, message) => {
  const found = read(models)
  expect('mistakes' in found && found.mistakes).toEqual([expect.stringMatching(message)])
  expect(JSON.stringify(found)).not.toMatch(/secret|1 USD|hgih/)
})
