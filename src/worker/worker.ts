import { randomUUID } from 'node:crypto'
import { claimRun } from '../store/claims.ts'
import { Control } from './control.ts'
import { LEASE_SECONDS } from './heartbeat.ts'
import { workOnRun } from './run-work.ts'
import type { WorkerDeps } from './settings.ts'
import { sweepLeftovers, sweepRuns } from './sweep.ts'
import { sweepMirrors } from './sweep-mirrors.ts'

const SWEEP_MS = 3_000
const LEFTOVERS_MS = 10 * 60_000
const SELF_TEST_MS = 30_000

/** Claims runs and works on them, `concurrency` at a time; starts none while the sandbox does not pass its self-test. */
export class Worker implements AsyncDisposable {
  readonly #deps: WorkerDeps
  readonly #concurrency: number
  readonly #owner = `${process.pid}-${randomUUID().slice(0, 8)}`
  readonly #active = new Map<Control, Promise<void>>()
  readonly #timers: NodeJS.Timeout[] = []
  #leave: () => void = () => {}
  #claiming: Promise<void> | null = null
  #again = false
  #stopped = false
  #blocked: string | null = 'the sandbox has not been tested yet'

  constructor(deps: WorkerDeps, concurrency: number) {
    this.#deps = deps
    this.#concurrency = concurrency
  }

  /** Why no run is started; null when runs are. */
  get blocked(): string | null {
    return this.#blocked
  }

  async start(): Promise<void> {
    await this.#selfTest()
    this.#leave = this.#deps.hub.onWork(() => this.wake())
    this.#every(SWEEP_MS, 'sweep', () => sweepRuns(this.#deps))
    this.#every(LEFTOVERS_MS, 'leftovers', () => sweepLeftovers(this.#deps))
    this.#every(LEFTOVERS_MS, 'mirrors', () => sweepMirrors(this.#deps))
    this.#every(SELF_TEST_MS, 'self-test', async () => {
      if (this.#blocked !== null) await this.#selfTest()
    })
    await sweepRuns(this.#deps)
    this.wake()
  }

  /** There may be a run to claim. */
  wake() {
    if (this.#stopped || this.#blocked !== null) return
    if (this.#claiming) {
      this.#again = true
      return
    }
    this.#claiming = this.#claimAll()
      .catch(error => this.#deps.log('error', 'claiming failed; it is tried again', { error: String(error) }))
      .finally(() => {
        this.#claiming = null
        if (!this.#again) return
        this.#again = false
        this.wake()
      })
  }

  async #claimAll() {
    while (!this.#stopped && this.#active.size < this.#concurrency) {
      const run = await claimRun(this.#deps.db, this.#owner, LEASE_SECONDS)
      if (!run) return
      const control = new Control()
      const done = workOnRun(this.#deps, run, control).finally(() => {
        this.#active.delete(control)
        this.wake()
      })
      this.#active.set(control, done)
    }
  }

  async #selfTest() {
    const result = await this.#deps.driver.selfTest()
    this.#blocked = result.ok ? null : result.reason
    if (!result.ok) this.#deps.log('error', 'no run is started', { reason: result.reason })
    this.wake()
  }

  #every(ms: number, what: string, work: () => Promise<void>) {
    let running = false
    const timer = setInterval(() => {
      if (running || this.#stopped) return
      running = true
      work()
        .catch(error => this.#deps.log('error', `${what} failed; it is tried again`, { error: String(error) }))
        .finally(() => {
          running = false
        })
    }, ms)
    this.#timers.push(timer)
  }

  /** Takes no more runs and gives those at work back to the queue. Resolves when no process of theirs is left. */
  async [Symbol.asyncDispose]() {
    this.#stopped = true
    this.#leave()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#claiming
    for (const control of this.#active.keys()) control.end({ kind: 'shutdown' })
    await Promise.all(this.#active.values())
  }
}
