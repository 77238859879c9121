import { Writable } from 'node:stream'
import type { ExecResult, ProcessRequest, Sandbox } from '../../src/sandbox/port.ts'

const CHUNK_BYTES = 64 * 1024

/**
 * A sandbox whose only program responds to each line of its input with a text: without processes, so that a
 * test can send every hostile text. `null`: it prints nothing.
 */
export function printingSandbox(
  respond: (message: { id?: unknown; method?: string }) => string | null,
): Sandbox {
  const openProcess = ({ on_stdout, signal }: ProcessRequest) => {
    const { promise: ended, resolve, reject } = Promise.withResolvers<ExecResult>()
    const result = { status: 'killed', exit_code: null, output: new Uint8Array() } as unknown as ExecResult
    signal?.addEventListener('abort', () => resolve(result), { once: true })
    const print = async (text: string) => {
      const bytes = Buffer.from(`${text}\n`)
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
        await on_stdout(bytes.subarray(at, at + CHUNK_BYTES))
    }
    const stdin = new Writable({
      write(line: Buffer, _encoding, done) {
        done()
        const printed = respond(JSON.parse(line.toString()))
        if (printed !== null) print(printed).catch(reject)
      },
    })
    return { stdin, ended }
  }
  return { openProcess } as unknown as Sandbox
}
