import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { CURRENT_WORK_EXPRESSION, type CurrentWork } from './current-work.ts'
import type { Claim } from './lease-messages.ts'

/**
 * Seconds without a sign of the event loop after which it is read what it works on, and after which that is
 * recorded.
 */
const READ_AFTER = 2
const RECORD_AFTER = 3
/**
 * Processor time of the main thread meanwhile: with less, the machine is busy, or the thread waits for a
 * disk, and no run is the cause. Other threads of the process may work for anyone.
 */
const RECORD_CPU_MS = 1_500
/**
 * Growth of the memory of a silent process after which both is done at once: the kernel may kill it at any
 * moment.
 */
const RECORD_GROWTH_BYTES = 512 * 1_048_576
const CLOCK_TICK_MS = 10
/** The process ends before its supervisor, which cannot state the reason, would end it after a minute. */
const END_AFTER = 50

type Actions = {
  /**
   * Records which of the claims were in hand when the event loop stalled, and of the others that they were
   * not.
   */
  record(claims: Claim[], in_hand: Claim[]): Promise<unknown>
  /** The event loop works again. */
  over(seconds: number, in_hand: Claim[]): void
  end(seconds: number, in_hand: Claim[]): void
}

/**
 * Watches the event loop of the main thread from another thread, once a second. When it stalls, the runs in
 * hand are recorded at once, because the process may die of what stalls it; when it works again, the record
 * is withdrawn. Seconds are counted rather than read from a clock, so that a process that was frozen is not
 * found stalled.
 */
export class StallWatch {
  readonly #signs: Int32Array
  readonly #actions: Actions
  #sign = 0
  #silent_seconds = 0
  #cpu_before_ms = 0
  #memory_before = 0
  #memory_seen = process.memoryUsage.rss()
  #current_work: CurrentWork | null = null
  #session: Session | null = null
  #recorded: Claim[] = []
  #recording = false

  /** @param signs shared memory whose number the event loop changes as long as it works */
  constructor(signs: Int32Array, actions: Actions) {
    this.#signs = signs
    this.#actions = actions
  }

  tick(claims: Claim[]): void {
    const sign = Atomics.load(this.#signs, 0)
    const works = sign !== this.#sign
    this.#sign = sign
    if (works) this.#works(claims)
    else this.#silent(claims)
  }

  /**
   * The main thread has released its last claim, which shows that its event loop works: there is no tick
   * until it has another one.
   */
  rest(): void {
    this.#works([])
  }

  #silent(claims: Claim[]): void {
    this.#silent_seconds++
    const grows = process.memoryUsage.rss() - this.#memory_before >= RECORD_GROWTH_BYTES
    if (this.#session === null && (grows || this.#silent_seconds >= READ_AFTER)) this.#read()
    if (!grows && this.#silent_seconds < RECORD_AFTER) return
    const is_cause = grows || mainThreadMs() - this.#cpu_before_ms >= RECORD_CPU_MS
    const in_hand = is_cause ? suspects(claims, this.#current_work) : []
    this.#record(claims, in_hand)
    if (this.#silent_seconds >= END_AFTER) this.#actions.end(this.#silent_seconds, in_hand)
  }

  #works(claims: Claim[]): void {
    if (this.#silent_seconds >= RECORD_AFTER) this.#actions.over(this.#silent_seconds, this.#recorded)
    this.#silent_seconds = 0
    this.#cpu_before_ms = mainThreadMs()
    // That of the second before: what stalls the loop may have begun to take memory.
    this.#memory_before = this.#memory_seen
    this.#memory_seen = process.memoryUsage.rss()
    this.#current_work = null
    this.#session?.disconnect()
    this.#session = null
    this.#record(claims, [])
  }

  /** Repeated each second until it has succeeded. */
  #record(claims: Claim[], in_hand: Claim[]): void {
    const is_recorded =
      in_hand.length === this.#recorded.length && in_hand.every(claim => this.#recorded.includes(claim))
    if (this.#recording || is_recorded) return
    this.#recording = true
    const recorded = this.#actions.record(claims, in_hand).then(
      () => {
        this.#recorded = in_hand
      },
      () => {},
    )
    void recorded.then(() => {
      this.#recording = false
    })
  }

  /**
   * V8 evaluates an expression between two steps of a loop or of a regular expression, in the asynchronous
   * context of the interrupted code.
   */
  #read(): void {
    const session = new Session()
    this.#session = session
    session.connectToMainThread()
    session.post(
      'Runtime.evaluate',
      { expression: CURRENT_WORK_EXPRESSION, returnByValue: true },
      (error, response) => {
        if (error === null && this.#session === session)
          this.#current_work = (response?.result.value as CurrentWork | null) ?? null
      },
    )
  }
}

/** Returns the processor time of the main thread, whose id is that of the process. */
function mainThreadMs(): number {
  const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8')
  // The second field is a name in parentheses, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number)
  return (user + system) * CLOCK_TICK_MS
}

/** Returns the claims of the run in hand. While that is not known, each run may be the one. */
function suspects(claims: Claim[], current_work: CurrentWork | null): Claim[] {
  if (current_work === 'no run') return []
  const of_run = claims.filter(({ run_id }) => run_id === current_work)
  return of_run.length > 0 ? of_run : claims
}
