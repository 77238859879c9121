import { describe, expect, test } from 'vitest'
import { chatChunk } from './fake-openai.ts'
import { sse } from './fake-server.ts'
import {
  ANTHROPIC,
  COMPATIBLE,
  failureOf,
  GOOGLE,
  OPENAI,
  PROTOCOLS,
  type Protocol,
  request,
} from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

describe.each(PROTOCOLS)('$name sends a stream that is broken', protocol => {
  const whole = protocol.events({
    text: 'Hello wörld, a longer text',
    tool_calls: [{ name: 'shell', arguments: { command: 'ls' } }],
    split: 3,
  })
  const bytes = Buffer.from(whole.join(''))
  const half = bytes.subarray(0, bytes.indexOf('ö') + 1)
  test.each([
    ['ended in the middle without an error', { raw: whole.slice(0, 5) }],
    [
      'ended before the finish reason',
      {
        raw: whole
          .slice(0, -2)
          .filter(
            event =>
              !/finish|stop_reason|STOP|completed/.test(event) || event.includes('"finish_reason":null'),
          ),
      },
    ],
    ['with no event at all', { raw: [''] }],
    ['with comments only', { raw: [': hello\n\n'] }],
    ['invalid JSON', { raw: [...whole.slice(0, 4), 'data: {"choices": [{"delta\n\n', ...whole.slice(4)] }],
    ['cut inside of a character', { raw: [half], after: 'end' as const }],
    [
      'bytes that are not UTF-8',
      {
        raw: [
          ...whole.slice(0, 4),
          Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a),
          ...whole.slice(4),
        ],
      },
    ],
    ['HTML with status 200', { raw: ['<html><body>Sign in</body></html>'] }],
    [
      '20 MB in one event',
      { raw: [...whole.slice(0, 4), 'data: "', ...Array(320).fill('x'.repeat(65_536)), '"\n\n'] },
    ],
    ['20 MB of text in small events', { raw: Array(2_600).fill(flood(protocol)) }],
  ])('%s: malformed, to be tried again', async (_name, reply) => {
    await using fake = await protocol.connect(() => reply)
    const failure = await failureOf(fake.model.call(request()))
    expect({ code: failure.code, retryable: failure.retryable }, failure.message).toEqual({
      code: 'malformed',
      retryable: true,
    })
    expect(failure.message.length).toBeLessThan(300)
    expect(fake.server.requests).toHaveLength(1)
  })

  test('cut by a closed connection: the provider is unavailable, as after an error of its server', async () => {
    await using fake = await protocol.connect(() => ({ raw: whole.slice(0, 5), after: 'cut' }))
    const failure = await failureOf(fake.model.call(request()))
    expect({ code: failure.code, retryable: failure.retryable }, failure.message).toEqual({
      code: 'unavailable',
      retryable: true,
    })
    expect(failure.message).toContain('cut in the middle')
  })

  /** Each protocol names the reason in its own field; a response of OpenAI has a status instead. */
  const endedBy = (reason: string) =>
    whole.map(event =>
      event
        .replace(/("(?:finish_?[rR]eason|stop_reason)":)"\w+"/, `$1"${reason}"`)
        .replaceAll('response.completed', 'response.incomplete')
        .replace('"incomplete_details":null', `"incomplete_details":{"reason":"${reason}"}`),
    )

  test.each(['error', 'abort', 'malformed_response', 'repetition', 'OTHER'])(
    'that ends with the unknown reason %s is malformed',
    async reason => {
      await using fake = await protocol.connect(() => ({ raw: endedBy(reason) }))
      const failure = await failureOf(fake.model.call(request()))
      expect({ code: failure.code, retryable: failure.retryable }).toEqual({
        code: 'malformed',
        retryable: true,
      })
      expect(failure.message).toContain(reason)
    },
  )

  test('that the server ended without resources is unavailable', async () => {
    await using fake = await protocol.connect(() => ({ raw: endedBy('insufficient_system_resource') }))
    expect(await failureOf(fake.model.call(request()))).toMatchObject({
      code: 'unavailable',
      retryable: true,
    })
  })

  test('that ends with a new reason keeps its text and calls', async () => {
    await using fake = await protocol.connect(() => ({ raw: endedBy('brand_new') }))
    const response = await fake.model.call(request())
    expect(response).toMatchObject({
      text: 'Hello wörld, a longer text',
      tool_calls: [{ name: 'shell' }],
      finish_reason: 'tool_calls',
    })
  })

  test('characters split over chunks are put together', async () => {
    await using fake = await protocol.connect(() => ({ raw: [...bytes].map(byte => Uint8Array.of(byte)) }))
    expect((await fake.model.call(request())).text).toBe('Hello wörld, a longer text')
  })

  test('with unknown events is read', async () => {
    const unknown = sse({ type: 'brand_new_event', payload: { x: 1 } }, 'brand_new_event')
    await using fake = await protocol.connect(() => ({
      raw: whole.flatMap((event, index) =>
        index > 1 && index < whole.length - 2 ? [unknown, event] : [event],
      ),
    }))
    expect(await fake.model.call(request())).toMatchObject({
      text: 'Hello wörld, a longer text',
      tool_calls: [{ name: 'shell', input: { command: 'ls' } }],
    })
  })
})

test.each([
  ...['end', 'end_turn', 'eos', 'eos_token', 'stop_sequence', 'COMPLETE'].map(
    word => [word, 'stop'] as const,
  ),
  ...['max_tokens', 'MAX_TOKENS', 'model_length'].map(word => [word, 'length'] as const),
  ...['sensitive', 'content_filtered', 'guardrail_intervened'].map(word => [word, 'refusal'] as const),
  ...['weird', 'compaction'].map(word => [word, 'other'] as const),
])('%s, the word of a gateway for the end of a response, is %s', async (word, finish_reason) => {
  await using fake = await COMPATIBLE.connect(() => ({
    raw: COMPATIBLE.events({ text: 'Hi' }).map(event => event.replace('"stop"', `"${word}"`)),
  }))
  const response = await fake.model.call(request())
  expect(response).toMatchObject({ text: 'Hi', finish_reason })
  expect(response.provider_reason).toBe(finish_reason === 'other' ? word : undefined)
})

test('an endless stream without content ends at the limit of bytes', async () => {
  function* comments() {
    const comment = `: ${'x'.repeat(1_048_574)}\n`
    for (;;) yield comment
  }
  await using fake = await COMPATIBLE.connect(() => ({ raw: comments() }))
  expect(await failureOf(fake.model.call(request()))).toMatchObject({
    code: 'malformed',
    message: expect.stringContaining('on the wire'),
  })
  await fake.server.requests[0]?.closed
})

/** Eight kilobytes of text in one event. */
function flood(protocol: Protocol): string {
  const text = 'x'.repeat(8_192)
  if (protocol === ANTHROPIC)
    return sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  if (protocol === GOOGLE) return sse({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })
  return protocol === OPENAI
    ? sse({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta: text })
    : chatChunk({ content: text })
}
