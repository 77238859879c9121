import { Worker } from 'node:worker_threads'
import type { KnownValue } from '../core/secrets/known-value.ts'
import { RedactionError } from './port.ts'
import type { Redactor } from './redact.ts'

export type Method = Exclude<keyof Redactor, 'stream' | 'placeholders'>
/** `values`: null when the thread has this redactor already. `forget`: a redactor that it may drop. */
export type Request = {
  redactor: number
  values: readonly KnownValue[] | null
  forget: number | null
  method: Method
  args: unknown[]
}
/** `met`: the names of known values that were found. `same`: the result is the first argument. */
export type Outcome = { ok: true; met: string[]; same: boolean; result: unknown } | { ok: false; why: string }
type DoneOutcome = Extract<Outcome, { ok: true }>

/**
 * The owner of the values; its requests are processed one after the other, so that one run cannot occupy all
 * threads.
 */
export type Owner = { values: readonly KnownValue[] }

type ThreadSettings = {
  max_threads: number
  /** A request that takes longer has hung: its thread is terminated. */
  timeout_ms: number
  /** The script of a thread. */
  script: URL
}

const DEFAULTS: ThreadSettings = {
  max_threads: 2,
  timeout_ms: 60_000,
  script: new URL('./thread.ts', import.meta.url),
}
const MAX_MEMORY_MIB = 1_024
/** How many redactors a thread keeps. */
const MAX_KNOWN = 16
/** A thread may die for another reason than its request, so the request is retried once. */
const MAX_TRIES = 2

type Task = Pick<Request, 'method' | 'args'> & {
  owner: Owner
  tries: number
  resolve(done: DoneOutcome): void
  reject(error: Error): void
}
type Thread = { worker: Worker; known: number[]; task: Task | null; timer: NodeJS.Timeout | null }

/** A bounded pool of redaction threads, started on demand. They keep no process alive. */
export class RedactionThreads {
  readonly #settings: ThreadSettings
  readonly #threads = new Set<Thread>()
  readonly #waiting: Task[] = []
  readonly #ids = new WeakMap<Owner, number>()
  #next_id = 1

  constructor(settings: Partial<ThreadSettings> = {}) {
    this.#settings = { ...DEFAULTS, ...settings }
  }

  /** Rejects with RedactionError when two threads have died or hung over the request, or when it fails. */
  run(owner: Owner, method: Method, args: unknown[]): Promise<DoneOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<DoneOutcome>()
    this.#waiting.push({ owner, method, args, tries: 0, resolve, reject })
    this.#start()
    return promise
  }

  #start(): void {
    const busy = new Set([...this.#threads].map(({ task }) => task?.owner))
    for (let at = 0; at < this.#waiting.length; ) {
      const task = this.#waiting[at]
      if (!task || busy.has(task.owner)) {
        at++
        continue
      }
      const thread = this.#freeThread()
      if (thread === null) return
      this.#waiting.splice(at, 1)
      busy.add(task.owner)
      this.#give(thread, task)
    }
  }

  #freeThread(): Thread | null {
    for (const thread of this.#threads) if (thread.task === null) return thread
    if (this.#threads.size >= this.#settings.max_threads) return null
    const resourceLimits = { maxOldGenerationSizeMb: MAX_MEMORY_MIB }
    const worker = new Worker(this.#settings.script, { env: {}, execArgv: [], resourceLimits })
    const thread: Thread = { worker, known: [], task: null, timer: null }
    worker.on('message', (outcome: Outcome) => this.#settle(thread, outcome))
    worker.on('error', () => this.#lost(thread))
    worker.on('exit', () => this.#lost(thread))
    this.#threads.add(thread)
    return thread
  }

  #give(thread: Thread, task: Task): void {
    const id = this.#ids.get(task.owner) ?? this.#next_id++
    this.#ids.set(task.owner, id)
    const is_known = thread.known.includes(id)
    if (!is_known) thread.known.push(id)
    const forget = thread.known.length > MAX_KNOWN ? (thread.known.shift() ?? null) : null
    thread.task = task
    task.tries++
    thread.timer = setTimeout(() => this.#lost(thread), this.#settings.timeout_ms)
    thread.worker.ref()
    const { method, args } = task
    try {
      thread.worker.postMessage({
        redactor: id,
        values: is_known ? null : task.owner.values,
        forget,
        method,
        args,
      } satisfies Request)
    } catch {
      this.#settle(thread, { ok: false, why: 'it cannot be sent to a thread' })
    }
  }

  #settle(thread: Thread, outcome: Outcome): void {
    const { task } = thread
    if (task === null || !this.#threads.has(thread)) return
    this.#release(thread)
    thread.worker.unref()
    if (outcome.ok) task.resolve(outcome)
    else task.reject(new RedactionError(`A text could not be redacted: ${outcome.why}.`))
    this.#start()
  }

  /** Another thread takes over the requests of one that has died or hangs. */
  #lost(thread: Thread): void {
    if (!this.#threads.delete(thread)) return
    const { task } = thread
    this.#release(thread)
    void thread.worker.terminate()
    if (task !== null && task.tries < MAX_TRIES) this.#waiting.unshift(task)
    else
      task?.reject(new RedactionError('A text could not be redacted: it took too long or too much memory.'))
    this.#start()
  }

  #release(thread: Thread): void {
    if (thread.timer !== null) clearTimeout(thread.timer)
    thread.timer = null
    thread.task = null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const threads = [...this.#threads]
    for (const thread of threads) this.#lost(thread)
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }
}
