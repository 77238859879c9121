import { expect, test } from 'vitest'
import { ProblemError } from './problem.ts'
import { backOff, readEvents, type StreamEvent, type StreamState } from './reconnecting-stream.ts'

type Step = string[] | ProblemError | 'hang'

/** Plays one answer after the other, then stops the reader. */
async function read(steps: Step[], options: { silence_ms?: number } = {}) {
  const stop = new AbortController()
  const asked: (string | null)[] = []
  const events: StreamEvent[] = []
  const states: StreamState[] = []
  const waits: number[] = []
  await readEvents({
    ...options,
    signal: stop.signal,
    on_event: event => events.push(event),
    on_state: state => states.push(state),
    wait: async ms => {
      waits.push(ms)
    },
    open: async (last_id, signal) => {
      asked.push(last_id)
      const step = steps[asked.length - 1]
      if (step === undefined) {
        stop.abort()
        signal.throwIfAborted()
      }
      if (step instanceof ProblemError) throw step
      return new Response(step === 'hang' ? hanging(signal) : chunks(step ?? []))
    },
  })
  return { asked, events, states: states.map(state => state.name), last: states.at(-1), waits }
}

const chunks = (parts: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })

const hanging = (signal: AbortSignal) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(': alive\n\n'))
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })

const log = (seq: number) => `id: ${seq}\nevent: log\ndata: {"seq":${seq}}\n\n`

test('a stream that ends is resumed after the last id, without gaps or duplicates', async () => {
  const { asked, events } = await read([[log(1), log(2)], [log(2), log(3)], [log(4)]])
  expect(asked).toEqual([null, '2', '3', '4'])
  expect(events.map(event => event.id)).toEqual(['1', '2', '3', '4'])
})

test('events without an id are passed on and do not move the resume position', async () => {
  const { asked, events } = await read([[log(7), 'event: run\ndata: {"status":"running"}\n\n', ': alive\n\n'], []])
  expect(asked).toEqual([null, '7', '7'])
  expect(events).toEqual([
    { id: '7', event: 'log', data: { seq: 7 } },
    { id: null, event: 'run', data: { status: 'running' } },
  ])
})

test('events that come in pieces are put together, characters too', async () => {
  const bytes = new TextEncoder().encode('id: 1\nevent: log\ndata: {"text":"grün"}\n\n')
  const stop = new AbortController()
  const events: StreamEvent[] = []
  await readEvents({
    signal: stop.signal,
    on_event: event => events.push(event),
    on_state: () => {},
    wait: async () => stop.abort(),
    open: async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
            controller.close()
          },
        }),
      ),
  })
  expect(events).toEqual([{ id: '1', event: 'log', data: { text: 'grün' } }])
})

test('an unavailable service is retried, with growing waits, and the wait is reset after success', async () => {
  const gone = new ProblemError(0, 'unreachable', 'gone')
  const { states, waits } = await read([gone, gone, gone, [log(1)], gone])
  expect(states).toEqual(['connecting', 'reconnecting', 'reconnecting', 'reconnecting', 'live', 'reconnecting', 'reconnecting'])
  expect(waits[2]).toBeGreaterThan(waits[0] ?? 0)
  expect(waits[3]).toBeLessThanOrEqual(625)
})

test('a wait that the service requests is honoured', async () => {
  const { waits } = await read([new ProblemError(503, 'unavailable', 'draining', [], 9000)])
  expect(waits[0]).toBe(9000)
})

test('a refusal that no retry can fix ends the stream and reports why', async () => {
  const { asked, last } = await read([new ProblemError(404, 'not_found', 'There is no run 9')])
  expect(asked).toHaveLength(1)
  expect(last).toMatchObject({ name: 'ended', problem: { status: 404 } })
})

test('a stream without a heartbeat is given up and resumed', async () => {
  const { asked, states } = await read([[log(5)], 'hang', [log(6)]], { silence_ms: 20 })
  expect(asked).toEqual([null, '5', '5', '6'])
  expect(states).toContain('reconnecting')
})

test('waits double up to a bound', () => {
  expect([1, 2, 3, 6, 20].map(attempt => backOff(attempt, 0))).toEqual([500, 1000, 2000, 15_000, 15_000])
  expect(backOff(1, 1)).toBe(625)
})
