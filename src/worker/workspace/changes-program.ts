import { settledWithin } from '../../core/timeout.ts'
import {
  LIST_REQUEST,
  type ListedChanges,
  parseResponse,
  UNKNOWN,
} from '../../git/workspace/changed-paths.ts'
import type { Sandbox } from '../../sandbox/port.ts'

/** The workspace is too large for a program that lists it. */
const MANY_FILES = /^many files/

/**
 * A program in the sandbox for snapshots that lists what has changed since its listing before. It starts with
 * the first request. After a failure it is not used again: git takes all snapshots.
 */
export class ChangesProgram {
  readonly #sandbox: Sandbox
  readonly #command: string
  readonly #stop = new AbortController()
  #stdin: { write(text: string): unknown } | null = null
  #unread: Buffer[] = []
  #onOutput: (chunk: Buffer | null) => void = () => {}

  constructor(sandbox: Sandbox, command: string) {
    this.#sandbox = sandbox
    this.#command = command
  }

  /** Call it once at a time. */
  async list(timeout_ms: number): Promise<ListedChanges> {
    this.#stdin ??= this.#start()
    if (this.#stop.signal.aborted) return { reason: 'the program has ended' }
    const responded = Promise.withResolvers<ListedChanges>()
    this.#unread = []
    let length = 0
    let needed = 1
    this.#onOutput = chunk => {
      if (chunk === null) return responded.resolve({ reason: 'the program has ended' })
      this.#unread.push(chunk)
      length += chunk.length
      if (length < needed) return
      const response = parseResponse(Buffer.concat(this.#unread))
      if ('needed' in response) needed = response.needed
      else responded.resolve(response.listed)
    }
    this.#stdin.write(LIST_REQUEST)
    if (!(await settledWithin(responded.promise, timeout_ms))) this.#end()
    const listed = await responded.promise
    if ('reason' in listed && (listed.reason === UNKNOWN || MANY_FILES.test(listed.reason))) this.#end()
    return listed
  }

  #start(): { write(text: string): unknown } {
    const { stdin, ended } = this.#sandbox.openProcess({
      command: this.#command,
      max_output_bytes: 1_000,
      signal: this.#stop.signal,
      on_stdout: chunk => this.#onOutput(Buffer.from(chunk)),
    })
    ended.catch(() => {}).finally(() => this.#end())
    return stdin
  }

  #end(): void {
    this.#stop.abort()
    this.#onOutput(null)
  }
}
