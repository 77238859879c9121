import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as cost from './call-cost.ts'
import { KNOWN_MODELS, knownModel } from './model-prices.ts'
import type { CountedTokens } from './port.ts'

const costUsd = (id: string, tokens: CountedTokens, at: number) => cost.costUsd(knownModel(id), tokens, at)
const maxCostUsd = (id: string, tokens: Parameters<typeof cost.maxCostUsd>[1], at: number) =>
  cost.maxCostUsd(knownModel(id), tokens, at)
const now = Date.parse('2026-11-20T12:00:00Z')
const tokens = (input_tokens: number, output_tokens: number, cached_tokens = 0, cache_write_tokens = 0) => ({
  input_tokens,
  output_tokens,
  cached_tokens,
  cache_write_tokens,
})

test('a cost is exact, without the noise of floating point', () => {
  expect(costUsd('anthropic/claude-sonnet-5-5', tokens(1_000_000, 100_000), now)).toBe('3')
  expect(costUsd('anthropic/claude-sonnet-5-5', tokens(1, 0), now)).toBe('0.000002')
  expect(costUsd('openai/gpt-6-luna', tokens(3, 0, 3), now)).toBe('0.00000003')
  expect(costUsd('anthropic/claude-haiku-5-5', tokens(1, 1), now)).toBe('0.0000006')
  expect(costUsd('anthropic/claude-sonnet-5-5', tokens(0, 0), now)).toBe('0')
})

test('cached and cache-written tokens are part of the input and have their own price', () => {
  expect(costUsd('anthropic/claude-opus-5', tokens(1_000_000, 0, 600_000, 300_000), now)).toBe('2.675')
  expect(costUsd('anthropic/claude-opus-5', tokens(10, 0, 20), now)).toBe('0.00001')
})

test('a long prompt changes the price of the whole call, from the first token over the limit', () => {
  expect(costUsd('openai/gpt-6.1-sol', tokens(272_000, 1_000_000), now)).toBe('10.544')
  expect(costUsd('openai/gpt-6.1-sol', tokens(272_001, 1_000_000), now)).toBe('16.088004')
})

test('an announced price applies from its date', () => {
  const costAt = (at: string) => costUsd('google/gemini-4-argon', tokens(1_000_000, 0), Date.parse(at))
  expect([costAt('2026-11-30T23:59:59Z'), costAt('2026-12-01T00:00:00Z')]).toEqual(['2', '4'])
})

test('a dated snapshot costs what its model costs', () => {
  expect(costUsd('anthropic/claude-haiku-4-5-20251001', tokens(1_000_000, 0), now)).toBe('1')
  expect(costUsd('openai/gpt-5.4-2026-03-05', tokens(1_000, 0), now)).toBe('0.0025')
})

test('an unknown cost is null and never 0', () => {
  for (const id of ['openai/gpt-99', 'openai-compatible/gpt-5.4', 'anthropic/', 'claude-opus-5', ''])
    expect(costUsd(id, tokens(1, 1), now)).toBeNull()
})

test('every known model has one id and a price for every kind of token', () => {
  expect(new Set(KNOWN_MODELS.map(model => model.id)).size).toBe(KNOWN_MODELS.length)
  for (const { id } of KNOWN_MODELS) {
    for (const one of [tokens(1, 0), tokens(0, 1), tokens(1, 0, 1), tokens(1, 0, 0, 1)])
      expect(Number(costUsd(id, one, now))).toBeGreaterThan(0)
  }
})

test('costs of calls add up to the cost of their sum', () => {
  const count = fc.nat({ max: 50_000 })
  const picodollars = (cost: string | null) => BigInt(Math.round(Number(cost ?? Number.NaN) * 1e12))
  fc.assert(
    fc.property(count, count, count, count, (a, b, c, d) => {
      const costOf = (input: number, output: number) =>
        picodollars(costUsd('anthropic/claude-sonnet-5-5', tokens(input, output), now))
      expect(costOf(a, b) + costOf(c, d)).toBe(costOf(a + c, b + d))
    }),
  )
})

test('the maximum cost of a call is that with an empty cache that it fills; for an unknown model it is unknown', () => {
  const tokens_of = { input_tokens: 1_000_000, output_tokens: 0 }
  expect(maxCostUsd('anthropic/claude-opus-5', tokens_of, now)).toBe('6.25')
  expect(maxCostUsd('openai/gpt-5.5', { input_tokens: 100_000, output_tokens: 10_000 }, now)).toBe('0.8')
  expect(maxCostUsd('openai-compatible/any', tokens_of, now)).toBeNull()
})
