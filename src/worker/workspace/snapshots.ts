import type { PackInput, Prepared, Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { SandboxLostError } from '../../sandbox/port.ts'
import type { SnapshotSandbox } from './snapshot-sandbox.ts'

const SNAPSHOT_MS = 5 * 60_000
const PREPARE_MS = 5 * 60_000
/** The agent waits no longer than this for a snapshot; one that takes longer is given up, because it sees files of two steps. */
const IDLE_MS = 20_000
/** After one that failed, the agent is not held up by another one for this long. */
const AGAIN_MS = 30_000
const MOST_LOST = 3

/** The snapshots of one claimed run, one after the other. None of them ever rejects: a workspace that cannot be looked at costs a checkpoint and not the run. */
export class Snapshots implements AsyncDisposable {
  readonly #open: () => Promise<SnapshotSandbox>
  readonly #onTrouble: (error: unknown) => void
  #sandbox: SnapshotSandbox | null
  #before: Snapshot | null = null
  #how: Prepared = { from: 'empty' }
  #last: Promise<unknown> = Promise.resolve()
  /** Resolves when the files may change again. */
  #captured: Promise<unknown> = Promise.resolve()
  /** The one that is being taken; spoiled: the files may have changed meanwhile. */
  #at_work: { spoiled: boolean } | null = null
  /** What git has taken in is not what `before` says. */
  #stale = false
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
    this.#how = how
    const prepared = this.#next(async () => {
      this.#before = (await this.#sandbox?.prepare(how, PREPARE_MS)) ?? null
      return this.#before
    })
    this.#captured = prepared
    return prepared
  }

  /** Null: it failed, it took too long, or one before it failed a moment ago; with `anyway` that is no reason. */
  take(anyway = false): Promise<Snapshot | null> {
    const captured = Promise.withResolvers<void>()
    this.#captured = captured.promise
    return this.#next(async () => {
      const before = this.#before
      if (!anyway && performance.now() < this.#not_before) return null
      if (this.#sandbox === null && this.#lost > MOST_LOST) return null
      const work = { spoiled: false }
      this.#at_work = work
      const stale = this.#stale
      this.#stale = true
      if (this.#sandbox === null || before === null) {
        this.#sandbox ??= await this.#open()
        this.#before = await this.#sandbox.prepare(
          before ? { ...this.#how, from: 'tree', tree: before.tree } : again(this.#how),
          PREPARE_MS,
        )
      } else {
        const changed = await this.#sandbox.capture(before, SNAPSHOT_MS)
        captured.resolve()
        if (work.spoiled) return null
        if (changed || stale) this.#before = await this.#sandbox.conclude(before, stale, SNAPSHOT_MS)
      }
      if (work.spoiled) return null
      this.#stale = false
      return this.#before
    }).finally(() => {
      this.#at_work = null
      captured.resolve()
    })
  }

  /** Resolves when the files may be changed, after `longest_ms` or when `signal` fires. */
  async idle(signal: AbortSignal, longest_ms = IDLE_MS): Promise<void> {
    if (this.#at_work?.spoiled) return
    const { promise, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => resolve('late'), longest_ms)
    const over = () => resolve('late')
    signal.addEventListener('abort', over)
    if (signal.aborted) over()
    const why = await Promise.race([this.#captured, promise])
    clearTimeout(timer)
    signal.removeEventListener('abort', over)
    if (why === 'late' && this.#at_work) this.#at_work.spoiled = true
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

/** What was a fresh checkout has been in the hands of the agent since. */
const again = (how: Prepared): Prepared => (how.from === 'clone' ? { ...how, from: 'tree', tree: how.sha } : how)
