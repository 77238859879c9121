import { settledWithin } from '../../core/timeout.ts'
import type { PackInput, Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { packRequest, parseResponse, takeRequest } from '../../git/workspace/incremental-snapshot.ts'
import type { Sandbox } from '../../sandbox/port.ts'

/** The workspace is too large for a program that lists it. */
const MANY_FILES = 'many files'
const MAX_LINE_BYTES = 8_192
/** More than the program ever packs. */
const MAX_PACK_BYTES = 16 * 1024 ** 2

type ChangedFiles = { tree: string; branch: string | null }
type Pack = { tip: string; content: Buffer }

/**
 * A program in the sandbox for snapshots that reads only what has changed since the snapshot before. It
 * starts with the first snapshot. After a failure it is not used again: git takes and packs all snapshots.
 */
export class SnapshotProgram {
  readonly #sandbox: Sandbox
  readonly #command: string
  readonly #stop = new AbortController()
  #stdin: { write(text: string): unknown } | null = null
  #last: Promise<unknown> = Promise.resolve()
  #unread: Buffer = Buffer.alloc(0)
  /** Takes what it can use of the beginning of `#unread`; null: no more is coming. */
  #onOutput: (unread: Buffer | null) => Buffer = () => Buffer.alloc(0)

  constructor(sandbox: Sandbox, command: string) {
    this.#sandbox = sandbox
    this.#command = command
  }

  /** Null: git must examine all files. `captured` is called when the files may change again. */
  take(
    before: Pick<Snapshot, 'tree' | 'head'>,
    captured: () => void,
    timeout_ms: number,
  ): Promise<ChangedFiles | null> {
    this.#stdin ??= this.#start()
    return this.#request<ChangedFiles>(takeRequest(before), timeout_ms, resolve => {
      return readLines(line => {
        const response = parseResponse(line)
        if (response === 'captured') return captured()
        if ('git' in response && response.git === MANY_FILES) this.#end()
        resolve('tree' in response ? response : null)
      })
    })
  }

  /** Null: git must write the pack. */
  async pack(input: PackInput, timeout_ms: number): Promise<Pack | null> {
    if (this.#stdin === null) return null
    return this.#request<Pack>(packRequest(input), timeout_ms, resolve => {
      let announced: { tip: string; bytes: number } | null = null
      const lines = readLines(line => {
        const response = parseResponse(line)
        if (typeof response === 'object' && 'tip' in response && response.bytes <= MAX_PACK_BYTES)
          announced = response
        else resolve(null)
      }, 1)
      return unread => {
        const content = announced === null ? lines(unread) : unread
        if (announced === null || content.length < announced.bytes) return content
        resolve({ tip: announced.tip, content: content.subarray(0, announced.bytes) })
        return content.subarray(announced.bytes)
      }
    })
  }

  /** One at a time. */
  #request<T>(
    request: string,
    timeout_ms: number,
    readerOf: (resolve: (response: T | null) => void) => (unread: Buffer) => Buffer,
  ): Promise<T | null> {
    const done = this.#last.then(async () => {
      if (this.#stop.signal.aborted) return null
      const responded = Promise.withResolvers<T | null>()
      const read = readerOf(responded.resolve)
      this.#onOutput = unread => {
        if (unread === null) responded.resolve(null)
        return unread === null ? Buffer.alloc(0) : read(unread)
      }
      this.#stdin?.write(request)
      if (!(await settledWithin(responded.promise, timeout_ms))) this.#end()
      return responded.promise
    })
    this.#last = done
    return done
  }

  #start(): { write(text: string): unknown } {
    const { stdin, ended } = this.#sandbox.openProcess({
      command: this.#command,
      max_output_bytes: 1_000,
      signal: this.#stop.signal,
      on_stdout: chunk => {
        this.#unread = this.#onOutput(Buffer.concat([this.#unread, chunk]))
      },
    })
    ended.catch(() => {}).finally(() => this.#end())
    return stdin
  }

  #end(): void {
    this.#stop.abort()
    this.#onOutput(null)
  }
}

/** Passes up to `max` lines on and returns what follows. */
function readLines(
  onLine: (line: string) => void,
  max = Number.POSITIVE_INFINITY,
): (unread: Buffer) => Buffer {
  let left = max
  return unread => {
    let from = 0
    for (let end = unread.indexOf(10); end >= 0 && left > 0; end = unread.indexOf(10, from)) {
      left--
      onLine(unread.toString('utf8', from, end))
      from = end + 1
    }
    if (left > 0 && unread.length - from > MAX_LINE_BYTES) onLine('git a line without end')
    return unread.subarray(from)
  }
}
