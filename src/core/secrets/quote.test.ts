import { expect, test } from 'vitest'
import { messageWithQuote, Quote, QuotingError } from './quote.ts'

const SECRET = 'sk-very-secret-value'
const redact = async (text: string) => text.replaceAll(SECRET, '[SECRET]')

test('no part of a secret is shown wherever the text is shortened', async () => {
  const text = `before ${SECRET} after`
  for (let max = 0; max <= text.length; max++)
    for (const part of ['start', 'end'] as const) {
      const shown = await new Quote(text, max, part).shown(redact)
      expect(shown).not.toMatch(/sk-|very|secret-|value/)
      expect(shown.length).toBeLessThanOrEqual(max || text.length)
    }
})

test('a quote shows nothing by accident', () => {
  const quote = new Quote(SECRET, 100)
  for (const shown of [
    `${quote}`,
    JSON.stringify(quote),
    JSON.stringify({ ...quote }),
    new QuotingError('It ended.', quote).message,
  ])
    expect(shown).not.toContain('very')
})

test('a message ends with what it quotes', async () => {
  expect(await messageWithQuote(new QuotingError('It ended.', new Quote(`${SECRET}!`, 100)), redact)).toBe(
    'It ended. [SECRET]!',
  )
  expect(await messageWithQuote(new QuotingError('It ended.'), redact)).toBe('It ended.')
  expect(await messageWithQuote(new Error('x'), redact)).toBe('x')
})
