import { expect, test } from 'vitest'
import type { ModelMessage, ModelResponse } from '../model/port.ts'
import { createTokenEstimate } from './token-estimate.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const responded = (
  text: string,
  input_tokens: number,
  output_tokens: number,
  raw: unknown = {},
): ModelResponse => ({
  text,
  reasoning: null,
  tool_calls: [],
  finish_reason: 'stop',
  usage: { input_tokens, output_tokens, cached_tokens: 0, cost_usd: null, raw },
  messages: [{ role: 'assistant', content: text }],
})

test('an uncounted text is a third of its bytes, so that the estimate is rather too high', () => {
  const estimate = createTokenEstimate('x'.repeat(300), [])
  expect(estimate.of([])).toBe(101)
  expect(estimate.of([user('y'.repeat(30))])).toBe(111)
  // A script of three bytes a character has about a token for each.
  expect(createTokenEstimate('', []).of([user('語'.repeat(30))])).toBe(31)
})

test('tokens that a provider counted are not estimated again, and only later messages are added', () => {
  const estimate = createTokenEstimate('x'.repeat(300), [])
  const sent = [user('y'.repeat(3_000))]
  expect(estimate.of(sent)).toBeGreaterThan(1_000)
  const response = responded('hello', 500, 20)
  estimate.counted(sent, response)
  const next = [...sent, ...response.messages]
  expect(estimate.of(next)).toBe(520)
  expect(estimate.of([...next, user('z'.repeat(30))])).toBe(530)
})

test('a shortened conversation is measured again, and so is an uncounted one', () => {
  const estimate = createTokenEstimate('', [])
  const sent = [user('y'.repeat(3_000))]
  const response = responded('hello', 5, 2)
  estimate.counted(sent, response)
  expect(estimate.of([user('short'), ...response.messages])).toBeLessThan(10)
  const uncounted = createTokenEstimate('', [])
  uncounted.counted(sent, responded('hello', 5, 2, null))
  expect(uncounted.of(sent)).toBeGreaterThan(1_000)
})

test('a picture counts the same however long its text is', () => {
  const picture = (data: string): ModelMessage => ({
    role: 'user',
    content: [{ type: 'file', data, mediaType: 'image/png' }],
  })
  const [small, large] = ['x', 'x'.repeat(1_000_000)].map(data =>
    createTokenEstimate('', []).of([picture(data)]),
  )
  expect(small).toBe(large)
})
