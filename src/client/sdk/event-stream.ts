import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { AgentRunError } from './error.ts'
import { backOff, pause } from './waiting.ts'

/** One server-sent event. `seq` is its place in the stream; null for what passes and is not kept. */
export type StreamEvent = { seq: number | null; event: string; data: unknown }

export type StreamOptions = {
  /** Opens the stream behind `after`, null for where the service begins. */
  open(after: number | null): Promise<Response>
  after: number | null
  /** Numbers follow each other without a gap, so that a missing one is a fault of the connection. */
  dense: boolean
  signal: AbortSignal | undefined
  /** The service sends something every 10 s: a stream that is silent for longer is given up and resumed. */
  silence_ms?: number
  /** Connections in a row that may fail after the first one was made. */
  reconnects?: number
}

/**
 * The events of a stream, for as long as the caller reads on: however a connection ends, the next one resumes behind the last number
 * seen, and each number comes once and in order. Rejects when the stream is refused, when it cannot be reached again,
 * with code `stream_blocked` when it opens but brings nothing (a proxy holds it back), or with the signal's reason.
 */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamEvent> {
  const { signal, dense, silence_ms = 25_000, reconnects = 20 } = options
  let last = options.after
  let failures = 0
  const alive = () => {
    failures = 0
  }
  // The first connection is not excused: a wrong address or a refusal is told at once.
  for (let response: Response | null = await options.open(last); ; response = null) {
    try {
      for await (const message of messages(response ?? (await options.open(last)), silence_ms, alive)) {
        const seq = message.id ? Number(message.id) : null
        if (seq !== null) {
          if (last !== null && seq <= last) continue
          if (dense && last !== null && seq !== last + 1) break
          last = seq
        }
        yield { seq, event: message.event ?? 'message', data: dataOf(message) }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (!isPassing(error) || failures >= reconnects) throw error
    }
    failures++
    await pause(backOff(failures, Math.random()), signal)
  }
}

/** What a later connection can mend: a cut one, and refusals that pass. `open` has tried several times by then. */
const isPassing = (error: unknown) =>
  !(error instanceof AgentRunError) || (error.code !== 'stream_blocked' && [0, 429, 502, 503, 504].includes(error.status))

function dataOf({ data }: EventSourceMessage): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new AgentRunError({ status: 200, code: 'unexpected', detail: 'An event of the stream is not JSON: is it the service?', cause })
  }
}

/** The messages of one connection, `alive` at each of them and at each heartbeat. Ends when it is cut or silent; leaving it closes it. */
async function* messages(response: Response, silence_ms: number, alive: () => void): AsyncGenerator<EventSourceMessage> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
    throw new AgentRunError({ status: response.status, code: 'unexpected', detail: `What answers at ${response.url} is no event stream.` })
  const ready: EventSourceMessage[] = []
  const parser = createParser({
    onComment: alive,
    onEvent(message) {
      alive()
      ready.push(message)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let received = false
  try {
    for (;;) {
      const chunk = await within(reader.read(), silence_ms)
      if (chunk === 'silent' && !received) throw blocked(response.url)
      if (chunk === 'silent' || chunk.done) return
      received = true
      parser.feed(decoder.decode(chunk.value, { stream: true }))
      yield* ready.splice(0)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const blocked = (url: string) =>
  new AgentRunError({
    status: 0,
    code: 'stream_blocked',
    detail: `The stream at ${url} opens but brings nothing: a proxy may hold it back.`,
  })

async function within<T>(work: Promise<T>, ms: number): Promise<T | 'silent'> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<'silent'>(resolve => {
    timer = setTimeout(() => resolve('silent'), ms)
  })
  return Promise.race([work, silence]).finally(() => clearTimeout(timer))
}
