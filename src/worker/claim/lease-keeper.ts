import { Worker } from 'node:worker_threads'
import type { Log } from '../../core/log.ts'
import type { HeartbeatResult } from '../../store/leases/leases.ts'
import {
  type Claim,
  type FromThread,
  monotonicMs,
  type SharedLease,
  shareLease,
  type ThreadData,
  type ToThread,
} from './lease-messages.ts'

const TICK_MS = 500
/** A thread without runs ends after this time. */
const IDLE_MS = 60_000
const MAX_MEMORY_MIB = 64

type LeaseEvents = {
  /** Of a heartbeat that requests something of the run; null: another worker owns it. */
  result(result: HeartbeatResult | null): void
  /** Called twice a second. */
  tick(): void
}

type Lease = {
  /** Milliseconds since the last successful renewal was sent. */
  age_ms(): number
  renewNow(): void
  /** Sends the last renewal, which counts the rest of the active time. Never rejects. */
  release(): Promise<void>
}

/** `owner`: the name of this process as an owner of runs. */
type LeaseOwner = { connection_string: string; owner: string }

type HeldClaim = {
  claim: Claim
  shared: SharedLease
  events: LeaseEvents
  released: PromiseWithResolvers<void> | null
}

/**
 * Keeps the leases of all claimed runs of a process, on a thread with its own database connections: work that
 * occupies the event loop delays the runs of this process and costs none its lease. The thread exists while
 * there are runs; another one replaces it if it dies.
 */
export class LeaseKeeper implements AsyncDisposable {
  readonly #owner: LeaseOwner
  readonly #log: Log
  readonly #script: URL
  readonly #held = new Map<number, HeldClaim>()
  readonly #signs = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  #next_id = 1
  #thread: Worker | null = null
  #timer: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  /** @param script of the thread */
  constructor(
    { connection_string, owner }: LeaseOwner,
    log: Log,
    script = new URL('./lease-thread.ts', import.meta.url),
  ) {
    this.#owner = { connection_string, owner }
    this.#log = log
    this.#script = script
  }

  /**
   * From now on the lease is renewed each second. `progressed`: shared memory that is 1 after progress of the
   * run.
   */
  add(claim: Claim, progressed: Int32Array, events: LeaseEvents): Lease {
    const id = this.#next_id++
    const shared = shareLease(progressed)
    this.#held.set(id, { claim, shared, events, released: null })
    clearTimeout(this.#idle)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
    if (this.#thread === null) this.#start()
    else this.#send({ kind: 'add', id, claim, shared })
    return {
      age_ms: () => Number(monotonicMs() - Atomics.load(shared.renewed_at, 0)),
      renewNow: () => this.#send({ kind: 'renew', id }),
      release: () => this.#release(id),
    }
  }

  #send(message: ToThread): void {
    this.#thread?.postMessage(message)
  }

  #release(id: number): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return Promise.resolve()
    held.released ??= Promise.withResolvers()
    if (this.#thread === null) this.#removed(id)
    else this.#send({ kind: 'release', id })
    return held.released.promise
  }

  #removed(id: number): void {
    this.#held.get(id)?.released?.resolve()
    this.#held.delete(id)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#idle = setTimeout(() => this.#stop(), IDLE_MS).unref()
  }

  #tick(): void {
    Atomics.add(this.#signs, 0, 1)
    if (this.#thread === null) this.#start()
    for (const { events } of this.#held.values()) events.tick()
  }

  #start(): void {
    const thread = new Worker(this.#script, {
      workerData: { ...this.#owner, signs: this.#signs } satisfies ThreadData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MIB },
    })
    thread.unref()
    thread.on('message', (message: FromThread) => this.#receive(message))
    // An error is followed by the exit.
    thread.on('error', error =>
      this.#log('error', 'the thread that renews leases failed', { error: error.message }),
    )
    thread.on('exit', () => this.#died(thread))
    this.#thread = thread
    for (const [id, { claim, shared }] of this.#held) this.#send({ kind: 'add', id, claim, shared })
  }

  #receive(message: FromThread): void {
    if (message.kind === 'released') this.#removed(message.id)
    else if (message.kind === 'stalled') {
      const { seconds, run_ids } = message
      this.#log('error', 'the event loop was occupied: requests and runs had to wait', { seconds, run_ids })
    } else this.#held.get(message.id)?.events.result(message.result)
  }

  /**
   * The next tick starts another thread. Leases that were being released are left to end by themselves, or
   * with the end of the run.
   */
  #died(thread: Worker): void {
    if (this.#thread !== thread) return
    this.#thread = null
    for (const [id, { released }] of this.#held) if (released !== null) this.#removed(id)
  }

  #stop(): Promise<number> | undefined {
    const thread = this.#thread
    this.#thread = null
    return thread?.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    clearTimeout(this.#idle)
    await this.#stop()
  }
}
