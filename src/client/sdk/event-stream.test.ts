import { expect, test } from 'vitest'
import { AgentRunError } from './error.ts'
import { type StreamOptions, streamEvents } from './event-stream.ts'

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

/** Reads until `last` is seen, from connections that are answered in their order. */
async function read(answers: (Response | AgentRunError)[], last: number, options: Partial<StreamOptions> = {}) {
  const asked: (number | null)[] = []
  const seen: (number | null)[] = []
  const open = async (after: number | null) => {
    asked.push(after)
    const answer = answers[asked.length - 1]
    if (answer instanceof AgentRunError) throw answer
    if (answer === undefined) throw refused(410)
    return answer
  }
  for await (const { seq } of streamEvents({ open, after: 0, dense: true, signal: undefined, ...options })) {
    seen.push(seq)
    if (seq === last) break
  }
  return { asked, seen }
}

const refused = (status: number) => new AgentRunError({ status, code: 'x', detail: 'no' })

test('what comes twice is given once, and what passes without a number is given as it comes', async () => {
  const passing = 'event: output\ndata: {"text":"x"}\n\n'
  const { asked, seen } = await read([response([entry(1), entry(2), entry(1)]), response([entry(2), passing, entry(3)])], 3)
  expect({ asked, seen }).toEqual({ asked: [0, 2], seen: [1, 2, null, 3] })
})

test('a missing number is requested before the later ones are given', async () => {
  expect(await read([response([entry(1), entry(3)], 'silence'), response([entry(2), entry(3)])], 3)).toEqual({
    asked: [0, 1],
    seen: [1, 2, 3],
  })
  expect(await read([response([entry(1), entry(3)])], 3, { dense: false })).toEqual({ asked: [0], seen: [1, 3] })
})

test('an event that is cut in the middle is requested again, at every boundary of pieces', async () => {
  const text = `retry: 1000\n\n${entry(1)}: alive\n\n${entry(2)}`
  const cut = response([...text.slice(0, -3)], 'break')
  expect(await read([cut, response([entry(2)])], 2)).toEqual({ asked: [0, 1], seen: [1, 2] })
})

test('a stream that falls silent is resumed; one that sends nothing from its start is buffered by a proxy', async () => {
  expect(await read([response([entry(1)], 'silence'), response([entry(2)])], 2, { silence_ms: 20 })).toEqual({
    asked: [0, 1],
    seen: [1, 2],
  })
  await expect(read([response([], 'silence')], 1, { silence_ms: 20 })).rejects.toMatchObject({ code: 'stream_blocked', status: 0 })
})

test('a refusal that passes is outlasted, another one ends it, and so does the first connection', async () => {
  expect(await read([response([entry(1)]), refused(503), refused(0), response([entry(2)])], 2)).toEqual({
    asked: [0, 1, 1, 1],
    seen: [1, 2],
  })
  await expect(read([response([entry(1)]), refused(401)], 2)).rejects.toMatchObject({ status: 401 })
  await expect(read([refused(503)], 1)).rejects.toMatchObject({ status: 503 })
})

test('connections that fail again and again are given up', async () => {
  const answers = [response([entry(1)]), refused(0), refused(0), refused(0)]
  await expect(read(answers, 2, { reconnects: 2 })).rejects.toMatchObject({ status: 0 })
})

test('a response that is no event stream, and an event that is not JSON, is an error and not retried', async () => {
  await expect(read([Response.json({})], 1)).rejects.toMatchObject({ code: 'unexpected' })
  await expect(read([response(['data: {\n\n'])], 1)).rejects.toMatchObject({ code: 'unexpected' })
})
