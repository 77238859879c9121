import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { modelsOf } from './models.ts'

const keys = { OPENAI_API_KEY: 'never-used' }

test.each([
  [
    'AGENTRUN_DEFAULT_MODEL',
    'anthropic/claude-opus-5',
    'AGENTRUN_DEFAULT_MODEL: anthropic/claude-opus-5 is not configured; available: openai/',
  ],
  [
    'AGENTRUN_REVIEW_MODEL',
    'anthropic/claude-opus-5',
    'AGENTRUN_REVIEW_MODEL: anthropic/claude-opus-5 is not configured; available: openai/',
  ],
  [
    'AGENTRUN_REVIEW_MODEL',
    'scripted/playbook',
    'AGENTRUN_REVIEW_MODEL: scripted/playbook plays scripts and reviews nothing',
  ],
])('%s %s prevents the start', (variable, model, message) => {
  expect(() => modelsOf(readConfig({ ...keys, [variable]: model }))).toThrow(message)
})

test('a review model with a key is accepted', () => {
  const config = readConfig({
    ...keys,
    AGENTRUN_REVIEW_MODEL: 'openai/gpt-5.4-mini',
    AGENTRUN_REVIEW_EFFORT: 'high',
  })
  expect(modelsOf(config).default_model).toMatch(/^openai\//)
  expect(() => readConfig({ AGENTRUN_REVIEW_EFFORT: 'hgih' })).toThrow(
    'AGENTRUN_REVIEW_EFFORT: must be one of none, minimal, low',
  )
})
