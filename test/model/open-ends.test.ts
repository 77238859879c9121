import { describe, expect, test } from 'vitest'
import { ANTHROPIC, COMPATIBLE, failureOf, GOOGLE, OPENAI, PROTOCOLS, request } from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

const RESPONSE = {
  text: 'All done, [DONE] wörd',
  tool_calls: [{ name: 'shell', arguments: { command: 'echo "data: [DONE]\n\n"' } }],
  split: 50,
}
const EXPECTED = {
  text: RESPONSE.text,
  tool_calls: [{ name: 'shell', input: { command: 'echo "data: [DONE]\n\n"' } }],
}
// Longer than a call or a test takes: only a response that waits for the server to close reaches them.
const timeouts = { first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 }

describe.each([COMPATIBLE, OPENAI, ANTHROPIC])(
  '$name reports the end and keeps the connection open',
  protocol => {
    const stream = protocol.events(RESPONSE).join('')
    test.each([
      ['in one chunk', [stream]],
      ['event by event', protocol.events(RESPONSE)],
      ['byte by byte', [...Buffer.from(stream)].map(byte => Uint8Array.of(byte))],
      ['with lines that end in CR LF', [stream.replaceAll('\n', '\r\n')]],
      ['and continues with comments', [stream, ...Array(50).fill(': still here\n\n')]],
    ])('%s: the response is used, the connection closed', async (_name, raw) => {
      await using fake = await protocol.connect(() => ({ raw, after: 'stall' }))
      expect(await fake.model.call(request({ timeouts }))).toMatchObject(EXPECTED)
      await fake.server.requests[0]?.closed
    })
  },
)

describe.each(PROTOCOLS)('$name', protocol => {
  test.each(['data: [DONE]\n\n', 'data:[DONE]\n', 'data: [DONE]'])(
    'ends at %j, whatever the protocol',
    async done => {
      const events = protocol.events(RESPONSE).filter(event => !event.includes('data: [DONE]\n'))
      await using fake = await protocol.connect(() => ({
        raw: [...events, done.slice(0, 8), done.slice(8)],
        after: 'stall',
      }))
      expect(await fake.model.call(request({ timeouts }))).toMatchObject(EXPECTED)
      await fake.server.requests[0]?.closed
    },
  )
})

test('the end of a stream is not the end of a response: without a finish reason it is malformed', async () => {
  await using fake = await COMPATIBLE.connect(() => ({
    raw: [...COMPATIBLE.events(RESPONSE).slice(0, 3), 'data: [DONE]\n\n'],
    after: 'stall',
  }))
  expect(await failureOf(fake.model.call(request({ timeouts })))).toMatchObject({
    code: 'malformed',
    retryable: true,
  })
})

test('Gemini reports no end: an open connection ends at the idle limit', async () => {
  await using fake = await GOOGLE.connect(() => ({ raw: GOOGLE.events(RESPONSE), after: 'stall' }))
  expect(await failureOf(fake.model.call(request({ timeouts: { ...timeouts, idle_ms: 60 } })))).toMatchObject(
    { code: 'timeout' },
  )
})
