import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withHeartbeats } from '../../../src/http/event-stream.ts'
import { program_env } from '../../system/program-env.ts'
import { startBareStream } from './bare-stream.ts'

const HEARTBEAT_MS = 5
const programs = join(import.meta.dirname, 'stream-clients')

/**
 * How each client is started, with the address as last argument; each prints the messages that it delivers.
 */
const clients = {
  '@microsoft/fetch-event-source': [process.execPath, join(programs, 'clients.mjs'), 'fetch-event-source'],
  eventsource: [process.execPath, join(programs, 'clients.mjs'), 'eventsource'],
  'httpx-sse': ['/usr/bin/python3', join(programs, 'httpx_sse.py')],
}

/** A stream of runs: the service writes the events. */
async function startRunStream() {
  const stream = await startBareStream({ heartbeat_ms: HEARTBEAT_MS, buffer_bytes: 65_536, stall_ms: 30_000 })
  onTestFinished(() => stream[Symbol.asyncDispose]())
  return { url: stream.url, add: stream.add, connections: () => stream.responses.length }
}

/** A stream of `/mcp`: the SDK writes the events. */
async function startMcpStream() {
  const app = Fastify()
  const opened = new Set<ReadableStreamDefaultController<Uint8Array>>()
  const sent: string[] = []
  let connections = 0
  app.get('/events', (_request, reply) => {
    let current: ReadableStreamDefaultController<Uint8Array>
    const events = new ReadableStream<Uint8Array>({
      start(controller) {
        current = controller
        opened.add(controller)
        for (const frame of sent) controller.enqueue(Buffer.from(frame))
      },
      cancel: () => void opened.delete(current),
    })
    connections++
    return reply.type('text/event-stream').send(withHeartbeats(events, HEARTBEAT_MS))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/events`,
    add(data: string) {
      sent.push(`id: ${sent.length + 1}\nevent: log\ndata: ${data}\n\n`)
      for (const controller of opened) controller.enqueue(Buffer.from(sent.at(-1) ?? ''))
    },
    connections: () => connections,
  }
}

/** Resolves after that many more heartbeats of a stream. */
async function awaitHeartbeats(url: string, count: number) {
  const cancelled = new AbortController()
  const { body } = await fetch(url, { signal: cancelled.signal })
  let seen = ''
  for await (const bytes of body ?? []) {
    seen += Buffer.from(bytes).toString()
    if (seen.split(': alive').length > count) break
  }
  cancelled.abort()
  return seen
}

const streams = { 'the events of a run': startRunStream, '/mcp': startMcpStream }

describe.each(Object.entries(streams))('%s', (_name, start) => {
  test.each(Object.entries(clients))(
    '%s delivers exactly the events, on one connection',
    async (_client, [program = '', ...args]) => {
      const stream = await start()
      const child = spawn(program, [...args, stream.url], {
        env: program_env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      onTestFinished(() => void child.kill())
      const errors = text(child.stderr)
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const delivered: unknown[] = []
      const next = async () => {
        const { value, done } = await lines.next()
        if (done) throw new Error(`the client ended: ${await errors}`)
        delivered.push(JSON.parse(value))
      }
      stream.add('{"n":1}')
      await next()
      const connections = stream.connections()
      expect(connections).toBe(1)
      await awaitHeartbeats(stream.url, 3)
      stream.add('{"n":2}')
      await next()
      await awaitHeartbeats(stream.url, 3)
      stream.add('end')
      await next()
      await once(child, 'exit')
      expect(delivered).toEqual(
        ['{"n":1}', '{"n":2}', 'end'].map((data, i) => ({ data, event: 'log', id: `${i + 1}` })),
      )
      // The two others are the readers of heartbeats.
      expect(stream.connections()).toBe(connections + 2)
    },
  )

  test('curl prints a blank line after each event and nowhere else', async () => {
    const stream = await start()
    stream.add('{"n":1}')
    await awaitHeartbeats(stream.url, 2)
    const child = spawn('curl', ['-sSN', stream.url], {
      env: program_env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill())
    let output = ''
    for await (const chunk of child.stdout) {
      output += chunk
      if (output.split(': alive').length > 3) break
    }
    const fields = output.split('\n').filter(line => line !== ': alive' && line !== 'retry: 1000')
    expect(fields.join('\n')).toBe('id: 1\nevent: log\ndata: {"n":1}\n\n')
  })
})
