import { expect, test } from 'vitest'
import { contextLimit } from './context-limit.ts'

test.each([
  ['a large window: as configured', { context_tokens: 1_000_000, long_prompt_tokens: null }, 200_000],
  ['a small window: 80 % of it', { context_tokens: 64_000, long_prompt_tokens: null }, 51_200],
  [
    'a higher price for long prompts: below it',
    { context_tokens: 1_000_000, long_prompt_tokens: 100_000 },
    100_000,
  ],
  ['nothing is known: as configured', { context_tokens: null, long_prompt_tokens: null }, 200_000],
])('%s', (_name, model, limit) => {
  expect(contextLimit(200_000, model)).toBe(limit)
})
