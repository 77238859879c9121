import { expect, test } from 'vitest'
import { ModelInput } from '../../../../../src/contract/organizations/models.ts'
import { draftOf, requestOf } from './model-draft.ts'
import type { Model } from './models-query.ts'

const model: Model = {
  id: 'acme/coder',
  label: 'Coder',
  provider: 'acme',
  source: 'organization',
  usable: true,
  api: 'openai-chat',
  base_url: 'https://models.example.com/v1',
  name: 'coder-v2',
  cache_marks: true,
  has_key: true,
  context_tokens: 200_000,
  max_output_tokens: null,
  price: {
    input: '1',
    output: '4',
    cached: '0.1',
    cache_write: '1',
    long: { over_tokens: 9_000, input: '2', output: '8', cached: '1', cache_write: '2' },
  },
  reasoning_effort: null,
  tool_family: 'edit',
  updated_at: null,
  updated_by: null,
}

const sent = (request: object) => JSON.parse(JSON.stringify(request))

test('a saved model keeps what was not changed, its key too, which the page never sees', () => {
  const request = sent(requestOf({ ...draftOf(model), label: 'Coder 2' }))
  expect(request).toEqual({
    id: 'acme/coder',
    label: 'Coder 2',
    api: 'openai-chat',
    base_url: model.base_url,
    name: 'coder-v2',
    cache_marks: true,
    context_tokens: 200_000,
    price: model.price,
    reasoning_effort: null,
    tool_family: 'edit',
  })
  expect(ModelInput.safeParse(request).success).toBe(true)
  expect(requestOf({ ...draftOf(model), remove_key: true, api_key: 'typed before' }).api_key).toBeNull()
})

test('the first change of a known model sends that change alone', () => {
  const known = {
    ...model,
    id: 'anthropic/claude',
    source: 'service',
    api: null,
    base_url: null,
    name: null,
    cache_marks: false,
  } as const
  expect(sent(requestOf({ ...draftOf(known), input: ' 3 ', output: '15' }))).toEqual({
    id: 'anthropic/claude',
    price: { input: '3', output: '15' },
  })
})

test('address, name and key of a model without a format of its own are not sent', () => {
  const draft = {
    ...draftOf(null),
    id: 'openai/gpt-next',
    base_url: 'https://typed.example.com',
    name: 'x',
    api_key: 'sk-0123456789',
  }
  expect(sent(requestOf(draft))).toEqual({ id: 'openai/gpt-next' })
})
