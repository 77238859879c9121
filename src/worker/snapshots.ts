import type { PackInput, Prepared, Snapshot } from '../git/checkpoint-commands.ts'
import { SandboxLostError } from '../sandbox/port.ts'
import type { SnapshotSandbox } from './snapshot-sandbox.ts'

const SNAPSHOT_MS = 60_000
const PREPARE_MS = 5 * 60_000
/** After one that failed, the agent is not held up by another one for this long. */
const AGAIN_MS = 30_000
const MOST_LOST = 3

/** The snapshots of one claimed run, one after the other. None of them ever rejects: a workspace that cannot be looked at costs a checkpoint and not the run. */
export class Snapshots implements AsyncDisposable {
  readonly #open: () => Promise<SnapshotSandbox>
  readonly #onTrouble: (error: unknown) => void
  #sandbox: SnapshotSandbox | null
  #before: Snapshot | null = null
  #last: Promise<unknown> = Promise.resolve()
  /** Resolves when the files may change again. */
  #captured: Promise<unknown> = Promise.resolve()
  #not_before = 0
  #lost = 0

  /** @param open starts the sandbox anew when it was lost. */
  constructor(sandbox: SnapshotSandbox, open: () => Promise<SnapshotSandbox>, onTrouble: (error: unknown) => void) {
    this.#sandbox = sandbox
    this.#open = open
    this.#onTrouble = onTrouble
  }

  /** The first one: the files as they are now. Null: it failed. */
  prepare(how: Prepared): Promise<Snapshot | null> {
    const prepared = this.#next(async () => {
      this.#before = (await this.#sandbox?.prepare(how, PREPARE_MS)) ?? null
      return this.#before
    })
    this.#captured = prepared
    return prepared
  }

  /** Null: it failed, or one before it did a moment ago; with `anyway` that is no reason. */
  take(anyway = false): Promise<Snapshot | null> {
    const captured = Promise.withResolvers<void>()
    this.#captured = captured.promise
    return this.#next(async () => {
      const before = this.#before
      if (before === null || (!anyway && performance.now() < this.#not_before)) return null
      if (this.#sandbox === null && this.#lost > MOST_LOST) return null
      if (this.#sandbox === null) {
        this.#sandbox = await this.#open()
        this.#before = await this.#sandbox.prepare({ from: 'tree', tree: before.tree }, PREPARE_MS)
      } else if (await this.#sandbox.capture(before, SNAPSHOT_MS)) {
        captured.resolve()
        this.#before = await this.#sandbox.conclude(before, SNAPSHOT_MS)
      }
      return this.#before
    }).finally(captured.resolve)
  }

  /** Resolves when the files may be changed, or `signal` fires. */
  async idle(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = () => resolve()
    signal.addEventListener('abort', over)
    if (signal.aborted) over()
    await Promise.race([this.#captured, promise])
    signal.removeEventListener('abort', over)
  }

  /** As the sandbox does it; rejects with SandboxError. */
  async pack(input: PackInput, sink: (chunk: Uint8Array) => void): Promise<string> {
    if (this.#sandbox === null) throw new SandboxLostError('nothing looks at the files any more')
    return this.#sandbox.pack(input, sink)
  }

  #next(work: () => Promise<Snapshot | null>): Promise<Snapshot | null> {
    const done = this.#last.then(work).catch(async error => {
      this.#not_before = performance.now() + AGAIN_MS
      if (error instanceof SandboxLostError) await this.#leave()
      this.#onTrouble(error)
      return null
    })
    this.#last = done
    return done
  }

  async #leave(): Promise<void> {
    this.#lost++
    const lost = this.#sandbox
    this.#sandbox = null
    await lost?.[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose]() {
    await this.#sandbox?.[Symbol.asyncDispose]()
  }
}
