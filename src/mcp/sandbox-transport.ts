import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { createMessageSplitter, describedEnd } from '../acp/messages.ts'
import { QuotingError } from '../core/secrets/quote.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { createServerTraffic, type ServerTraffic } from './server-traffic.ts'

const MAX_ERROR_OUTPUT_BYTES = 64 * 1024

/** A program of a sandbox that speaks MCP over its standard streams. */
export type Program = {
  command: string
  args: readonly string[]
  environment: Readonly<Record<string, string>>
}

/** `over`: why the program has ended; it never rejects. */
type ProgramTransport = { transport: Transport; traffic: ServerTraffic; over: Promise<Error> }

/** Returns the transport of a program, which starts with it and ends with it. `signal` ends the program. */
export function programTransport(sandbox: Sandbox, program: Program, signal: AbortSignal): ProgramTransport {
  const kill = new AbortController()
  const traffic = createServerTraffic()
  const { promise: over, resolve } = Promise.withResolvers<Error>()
  let send: ((line: string) => Promise<void>) | null = null
  const transport: Transport = {
    async start() {
      // While it does not read its input, nothing more of its output is read.
      const splitter = createMessageSplitter('mcp_message', message => {
        const received = traffic.receive(message, response => transport.send(response))
        if (received instanceof Promise) return received
        transport.onmessage?.(received as JSONRPCMessage)
      })
      const process = sandbox.openProcess({
        command: commandOf(program),
        max_output_bytes: MAX_ERROR_OUTPUT_BYTES,
        signal: AbortSignal.any([kill.signal, signal]),
        async on_stdout(chunk) {
          traffic.addBytes(chunk.length)
          await splitter.add(chunk)
        },
      })
      send = line =>
        new Promise((done, reject) =>
          process.stdin.write(`${line}\n`, error =>
            error ? reject(new Error('It reads no input.')) : done(),
          ),
        )
      process.ended
        .then(
          result => new QuotingError(...describedEnd(result)),
          (error: Error) => error,
        )
        .then(error => {
          resolve(error)
          transport.onclose?.()
        })
    },
    async send(message) {
      await send?.(JSON.stringify(message))
    },
    async close() {
      kill.abort()
      if (send === null) resolve(new Error('It was not started.'))
      await over
    },
  }
  return { transport, traffic, over }
}

function commandOf({ command, args, environment }: Program): string {
  const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}; `)
  return `${exports.join('')}exec ${[command, ...args].map(quoted).join(' ')}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
