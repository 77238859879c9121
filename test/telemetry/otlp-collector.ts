import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as it came over OTLP. Ids are hexadecimal, times milliseconds. */
export type SeenSpan = {
  trace_id: string
  span_id: string
  parent_id: string
  name: string
  kind: 'internal' | 'server' | 'client' | 'other'
  began_at: number
  ended_at: number
  attributes: Record<string, unknown>
  failed: boolean
  resource: Record<string, unknown>
}

export type Collector = AsyncDisposable & {
  url: string
  spans: SeenSpan[]
  /** Everything that arrived, as bytes. */
  received: Buffer[]
  headers: Record<string, unknown>[]
  /** Its status code from now on. */
  response: number
  /** Resolves when this number of spans fit. */
  until(fits: (span: SeenSpan) => boolean, count?: number): Promise<SeenSpan[]>
}

/** A collector of traces over HTTP that takes OTLP's protobuf and reads it. */
export async function startCollector(): Promise<Collector> {
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf')
      return void response.writeHead(404).end()
    const body = Buffer.concat(pieces)
    collector.received.push(body)
    collector.headers.push(request.headers)
    if (collector.response !== 200) return void response.writeHead(collector.response).end()
    collector.spans.push(...readTraces(body))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    for (const poll of waiting) poll()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    received: [],
    headers: [],
    response: 200,
    until: (fits, count = 1) =>
      new Promise(resolve => {
        const poll = () => {
          const found = collector.spans.filter(fits)
          if (found.length < count) return
          waiting.delete(poll)
          resolve(found)
        }
        waiting.add(poll)
        poll()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return collector
}

type Field = { number: number; value: bigint | Buffer }

/** The fields of a protobuf message: numbers as they are, everything with a length as bytes. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const [number, type] = [tag >> 3, tag & 7]
    if (type === 0) fields.push({ number, value: varint() })
    else {
      const length = type === 1 ? 8 : type === 5 ? 4 : Number(varint())
      fields.push({ number, value: bytes.subarray(at, at + length) })
      at += length
    }
  }
  return fields
}

const messages = (fields: Field[], number: number): Buffer[] =>
  fields.flatMap(field => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []))
const bytesAt = (fields: Field[], number: number) => messages(fields, number)[0] ?? Buffer.alloc(0)
const numberAt = (fields: Field[], number: number) =>
  Number(fields.find(field => field.number === number)?.value ?? 0)

function readTraces(body: Buffer): SeenSpan[] {
  return messages(fieldsOf(body), 1).flatMap(bytes => {
    const parts = fieldsOf(bytes)
    const resource = attributesOf(messages(fieldsOf(bytesAt(parts, 1)), 1))
    return messages(parts, 2).flatMap(scope =>
      messages(fieldsOf(scope), 2).map(span => readSpan(fieldsOf(span), resource)),
    )
  })
}

function readSpan(fields: Field[], resource: Record<string, unknown>): SeenSpan {
  const time = (number: number) => Number(bytesAt(fields, number).readBigUInt64LE()) / 1e6
  return {
    trace_id: bytesAt(fields, 1).toString('hex'),
    span_id: bytesAt(fields, 2).toString('hex'),
    parent_id: bytesAt(fields, 4).toString('hex'),
    name: bytesAt(fields, 5).toString(),
    kind: ([undefined, 'internal', 'server', 'client'] as const)[numberAt(fields, 6)] ?? 'other',
    began_at: time(7),
    ended_at: time(8),
    attributes: attributesOf(messages(fields, 9)),
    failed: numberAt(fieldsOf(bytesAt(fields, 15)), 3) === 2,
    resource,
  }
}

function attributesOf(pairs: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(pair => {
      const fields = fieldsOf(pair)
      return [bytesAt(fields, 1).toString(), contentOf(fieldsOf(bytesAt(fields, 2)))]
    }),
  )
}

function contentOf([field]: Field[]): unknown {
  if (field === undefined) return null
  const { number, value } = field
  if (number === 2) return value === 1n
  if (number === 3) return Number(value)
  if (!Buffer.isBuffer(value)) return value
  if (number === 4) return value.readDoubleLE()
  if (number === 5) return messages(fieldsOf(value), 1).map(item => contentOf(fieldsOf(item)))
  return value.toString()
}
