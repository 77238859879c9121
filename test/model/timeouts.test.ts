import { describe, expect, test } from 'vitest'
import { COMPATIBLE, failureOf, PROTOCOLS, request } from './protocols.ts'
import { forbidOutput } from './silence.ts'

forbidOutput()

const quick = (part: 'first_byte_ms' | 'idle_ms' | 'total_ms') => ({
  first_byte_ms: 20_000,
  idle_ms: 20_000,
  total_ms: 20_000,
  [part]: 60,
})

describe.each(PROTOCOLS)('timeouts of $name', protocol => {
  test.each(['before_headers', 'before_body'] as const)(
    'a stall %s ends at the first-byte limit and closes the connection',
    async stall => {
      await using fake = await protocol.connect(() => ({ stall }))
      const failure = await failureOf(fake.model.call(request({ timeouts: quick('first_byte_ms') })))
      expect(failure).toMatchObject({
        code: 'timeout',
        retryable: true,
        message: expect.stringContaining('sent nothing within 60 ms'),
      })
      await fake.server.requests[0]?.closed
    },
  )

  test('a stall in the middle of the response ends at the idle limit', async () => {
    const raw = protocol.events({ text: 'some words that never end' }).slice(0, 5)
    await using fake = await protocol.connect(() => ({ raw, after: 'stall' }))
    const failure = await failureOf(fake.model.call(request({ timeouts: quick('idle_ms') })))
    expect(failure).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('in the middle of its response'),
    })
    await fake.server.requests[0]?.closed
  })

  test('an endless stream ends at the total limit', async () => {
    await using fake = await protocol.connect(seen => ({ raw: endless(seen.closed) }))
    expect(await failureOf(fake.model.call(request({ timeouts: quick('total_ms') })))).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('did not finish'),
    })
    await fake.server.requests[0]?.closed
  })

  test('an abort in the middle ends the call immediately and closes the connection', async () => {
    const stop = new AbortController()
    const raw = protocol.events({ text: 'some words that never end', reasoning: 'hm' }).slice(0, -3)
    await using fake = await protocol.connect(() => ({ raw, after: 'stall' }))
    const failure = await failureOf(
      fake.model.call(request({ signal: stop.signal, on_delta: () => stop.abort() })),
    )
    expect(failure).toMatchObject({ code: 'aborted', retryable: false })
    await fake.server.requests[0]?.closed
  })

  test('after the end of a call no event of it is published', async () => {
    const stop = new AbortController()
    const texts: string[] = []
    await using fake = await protocol.connect(() => ({
      text: 'many words in one piece of the stream',
      split: 2,
    }))
    const on_delta = ({ text }: { text: string }) => {
      texts.push(text)
      stop.abort()
    }
    await failureOf(fake.model.call(request({ signal: stop.signal, on_delta })))
    await fake.server.requests[0]?.closed
    expect(texts).toHaveLength(1)
  })
})

/** Keep-alive comments, one after the other: the connection lives, the response does not come. */
async function* endless(closed: Promise<void>): AsyncIterable<string> {
  const over = closed.then(() => 'over')
  for (;;) {
    yield ': still here\n\n'
    if ((await Promise.race([over, new Promise(resolve => setImmediate(resolve))])) === 'over') return
  }
}

test('an abort before the call sends no request', async () => {
  await using fake = await COMPATIBLE.connect(() => ({ text: 'hi' }))
  expect(await failureOf(fake.model.call(request({ signal: AbortSignal.abort() })))).toMatchObject({
    code: 'aborted',
  })
  expect(fake.server.requests).toEqual([])
})

test('keep-alive comments before the response are not silence', async () => {
  const raw = [': waiting\n\n', ': waiting\n\n', ...COMPATIBLE.events({ text: 'here' })]
  await using fake = await COMPATIBLE.connect(() => ({ raw }))
  expect((await fake.model.call(request())).text).toBe('here')
})
