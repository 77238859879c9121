import { expect, test } from 'vitest'
import { AgentRunError } from './error.ts'
import { type ConnectionState, type StreamOptions, streamEvents } from './reconnecting-stream.ts'

const entry = (seq: number) => `id: ${seq}\nevent: log\ndata: {"seq":${seq}}\n\n`

/** A response that gives these pieces and then ends, breaks, or stays open and sends nothing more. */
function response(pieces: string[], after: 'end' | 'silence' | 'break' = 'end'): Response {
  let n = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[n++]
      if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece))
      else if (after === 'end') controller.close()
      else if (after === 'break') controller.error(new TypeError('terminated'))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Reads until `last` is seen, from connections that get the responses in order. */
async function read(
  responses: (Response | AgentRunError)[],
  last: number,
  options: Partial<StreamOptions> = {},
) {
  const opened_after: (number | null)[] = []
  const seen: (number | null)[] = []
  const open = async (after: number | null) => {
    opened_after.push(after)
    const result = responses[opened_after.length - 1]
    if (result instanceof AgentRunError) throw result
    if (result === undefined) throw refused(410)
    return result
  }
  for await (const { seq } of streamEvents({ open, after: 0, dense: true, signal: undefined, ...options })) {
    seen.push(seq)
    if (seq === last) break
  }
  return { opened_after, seen }
}

const refused = (status: number) => new AgentRunError({ status, code: 'x', detail: 'no' })

test('a repeated event is returned once, and an ephemeral event without a number immediately', async () => {
  const passing = 'event: output\ndata: {"text":"x"}\n\n'
  const { opened_after, seen } = await read(
    [response([entry(1), entry(2), entry(1)]), response([entry(2), passing, entry(3)])],
    3,
  )
  expect({ opened_after, seen }).toEqual({ opened_after: [0, 2], seen: [1, 2, null, 3] })
})

test('a missing number is requested before the later ones are returned', async () => {
  expect(await read([response([entry(1), entry(3)], 'silence'), response([entry(2), entry(3)])], 3)).toEqual({
    opened_after: [0, 1],
    seen: [1, 2, 3],
  })
  expect(await read([response([entry(1), entry(3)])], 3, { dense: false })).toEqual({
    opened_after: [0],
    seen: [1, 3],
  })
})

test('an event that is cut in the middle is requested again, at every boundary of pieces', async () => {
  const text = `retry: 1000\n\n${entry(1)}: alive\n\n${entry(2)}`
  const cut = response([...text.slice(0, -3)], 'break')
  expect(await read([cut, response([entry(2)])], 2)).toEqual({ opened_after: [0, 1], seen: [1, 2] })
})

test('a stream that falls silent is resumed; one that sends nothing from its start is buffered by a proxy', async () => {
  expect(await read([response([entry(1)], 'silence'), response([entry(2)])], 2, { silence_ms: 20 })).toEqual({
    opened_after: [0, 1],
    seen: [1, 2],
  })
  await expect(read([response([], 'silence')], 1, { silence_ms: 20 })).rejects.toMatchObject({
    code: 'stream_blocked',
    status: 0,
  })
})

test('a temporary refusal is retried, a final one ends the stream, and so does a failed first connection', async () => {
  expect(await read([response([entry(1)]), refused(503), refused(0), response([entry(2)])], 2)).toEqual({
    opened_after: [0, 1, 1, 1],
    seen: [1, 2],
  })
  await expect(read([response([entry(1)]), refused(401)], 2)).rejects.toMatchObject({ status: 401 })
  await expect(read([refused(503)], 1)).rejects.toMatchObject({ status: 503 })
})

test('a stream whose connections fail repeatedly is given up', async () => {
  const responses = [response([entry(1)]), refused(0), refused(0), refused(0)]
  await expect(read(responses, 2, { reconnects: 2 })).rejects.toMatchObject({ status: 0 })
})

test('a response that is not an event stream, and an event that is not JSON, is an error and not retried', async () => {
  await expect(read([Response.json({})], 1)).rejects.toMatchObject({ code: 'unexpected' })
  await expect(read([response(['data: {\n\n'])], 1)).rejects.toMatchObject({ code: 'unexpected' })
})

/** Reads a persistent stream as the web page does: without waiting, until `connections` are used up. */
async function readPersistently(responses: (Response | AgentRunError)[]) {
  const stop = new AbortController()
  const states: ConnectionState[] = []
  const waits: number[] = []
  let opened = 0
  const open = async () => {
    const result = responses[opened++]
    if (result instanceof AgentRunError) throw result
    if (result === undefined) stop.abort()
    stop.signal.throwIfAborted()
    return result as Response
  }
  const wait = async (ms: number) => void waits.push(ms)
  const stream = streamEvents({
    open,
    after: null,
    dense: false,
    signal: stop.signal,
    silence_ms: 20,
    persistent: true,
    wait,
    on_state: (state: ConnectionState) => states.push(state),
  })
  const failure = await collect(stream).catch((error: unknown) => error)
  return {
    states: states.map(({ name }) => name),
    attempts: states.flatMap(state => ('attempt' in state ? [state.attempt] : [])),
    waits,
    failure,
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

test('a persistent stream retries its first connection and reports each state; events restart the count of attempts', async () => {
  const { states, attempts, failure } = await readPersistently([
    refused(0),
    refused(500),
    response([entry(1)]),
    response([], 'silence'),
  ])
  expect(states).toEqual([
    'connecting',
    'reconnecting',
    'reconnecting',
    'live',
    'reconnecting',
    'live',
    'reconnecting',
  ])
  expect(attempts).toEqual([1, 2, 1, 2])
  expect(failure).toMatchObject({ name: 'AbortError' })
})

test('a persistent stream ends with a refusal that no retry can fix', async () => {
  for (const status of [401, 403, 404])
    expect((await readPersistently([refused(status)])).failure).toMatchObject({ status })
  expect((await readPersistently([refused(408), refused(429)])).attempts).toEqual([1, 2])
})

test('a wait that the service requests before a reconnection is kept', async () => {
  const draining = new AgentRunError({
    status: 503,
    code: 'unavailable',
    detail: 'draining',
    retry_after_ms: 9_000,
  })
  expect((await readPersistently([draining])).waits).toEqual([9_000])
})

test('characters that are cut in the middle are put together', async () => {
  const bytes = new TextEncoder().encode('id: 1\nevent: log\ndata: {"text":"grün"}\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const open = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  for await (const { data } of streamEvents({ open, after: 0, dense: true, signal: undefined })) {
    expect(data).toEqual({ text: 'grün' })
    break
  }
})
