import { orAborted } from '../../core/abort.ts'
import { settledWithin } from '../../core/timeout.ts'
import type { PackInput, PreparedFiles, Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import { SandboxLostError } from '../../sandbox/port.ts'
import type { FilesState } from './files-state.ts'
import type { SnapshotSandbox } from './snapshot-sandbox.ts'
import type { Difference } from './snapshot-taker.ts'

const SNAPSHOT_MS = 5 * 60_000
const PREPARE_MS = 5 * 60_000
/**
 * Maximum time that the agent waits for a snapshot; one that takes longer is discarded, because it sees files
 * of two steps.
 */
const IDLE_MS = 20_000
/** After a failed snapshot, the agent does not wait for another one for this long. */
const RETRY_MS = 30_000
const MAX_LOST = 3

/** `difference`: a snapshot from the changed paths has other files than git finds. */
type SnapshotListeners = {
  trouble(error: unknown): void
  difference(difference: Difference): void
}

/**
 * Takes the snapshots of one claimed run in sequence. None of them rejects: a failed snapshot costs a
 * checkpoint and not the run.
 */
export class Snapshots implements AsyncDisposable {
  readonly #open: () => Promise<SnapshotSandbox>
  readonly #on: SnapshotListeners
  readonly #files: FilesState
  #sandbox: SnapshotSandbox | null
  #before: Snapshot | null = null
  #how: PreparedFiles = { from: 'empty' }
  #last: Promise<unknown> = Promise.resolve()
  /** Resolves when the files may change again. */
  #captured: Promise<unknown> = Promise.resolve()
  /** The snapshot in progress. `spoiled`: the files may have changed meanwhile. */
  #current: { spoiled: boolean } | null = null
  /** Git has captured files that `before` does not describe. */
  #stale = false
  #not_before = 0
  #lost = 0

  /** @param open restarts the sandbox after it was lost. */
  constructor(
    sandbox: SnapshotSandbox,
    open: () => Promise<SnapshotSandbox>,
    on: SnapshotListeners,
    files: FilesState,
  ) {
    this.#sandbox = sandbox
    this.#open = open
    this.#on = on
    this.#files = files
  }

  /** Takes the first snapshot. Null: it failed. */
  prepare(how: PreparedFiles): Promise<Snapshot | null> {
    this.#how = how
    const prepared = this.#next(async () => {
      this.#before = (await this.#sandbox?.prepare(how, PREPARE_MS)) ?? null
      return this.#before
    })
    this.#captured = prepared
    return prepared
  }

  /**
   * Returns the previous snapshot if nothing has changed. Null: it failed, it took too long, or an earlier
   * one has just failed. `anyway`: it is taken in both cases, by a git that examines all files.
   */
  take(anyway = false): Promise<Snapshot | null> {
    const captured = Promise.withResolvers<void>()
    this.#captured = captured.promise
    // Beside the snapshot in progress.
    const state = this.#files.read()
    return this.#next(async () => {
      const before = this.#before
      if (!anyway && performance.now() < this.#not_before) return null
      if (this.#sandbox === null && this.#lost > MAX_LOST) return null
      const work = { spoiled: false }
      this.#current = work
      const stale = this.#stale
      if (this.#files.isCaptured(await state) && !anyway && !stale) return before
      const captureDone = this.#files.capture()
      this.#stale = true
      if (this.#sandbox === null || before === null) {
        this.#sandbox ??= await this.#open()
        this.#before = await this.#sandbox.prepare(
          before ? { ...this.#how, from: 'tree', tree: before.tree } : retryOf(this.#how),
          PREPARE_MS,
        )
      } else {
        const options = { stale, largest_bytes: this.#files.largestBytes(await state), complete: anyway }
        const taken = await this.#sandbox.take(before, options, captured.resolve, SNAPSHOT_MS)
        if (!work.spoiled) this.#before = taken.snapshot ?? before
        if (taken.differs && !work.spoiled) this.#on.difference(taken.differs)
      }
      if (work.spoiled) return null
      this.#stale = false
      captureDone()
      return this.#before
    }).finally(() => {
      this.#current = null
      captured.resolve()
    })
  }

  /** Resolves when the files may be changed, after `timeout_ms` or when `signal` aborts. */
  async idle(signal: AbortSignal, timeout_ms = IDLE_MS): Promise<void> {
    if (this.#current?.spoiled) return
    const captured = await settledWithin(orAborted(this.#captured, signal), timeout_ms).catch(() => false)
    if (!captured && this.#current) this.#current.spoiled = true
  }

  /** As `pack` of the sandbox; rejects with SandboxError. */
  async pack(input: PackInput, sink: (chunk: Uint8Array) => void): Promise<string> {
    if (this.#sandbox === null) throw new SandboxLostError('the sandbox for snapshots is lost')
    return this.#sandbox.pack(input, sink)
  }

  #next(work: () => Promise<Snapshot | null>): Promise<Snapshot | null> {
    const done = this.#last.then(work).catch(async error => {
      this.#not_before = performance.now() + RETRY_MS
      if (error instanceof SandboxLostError) await this.#leave()
      this.#on.trouble(error)
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

/** The agent may have changed what was a fresh checkout. */
const retryOf = (how: PreparedFiles): PreparedFiles =>
  how.from === 'clone' ? { ...how, from: 'tree', tree: how.sha } : how
