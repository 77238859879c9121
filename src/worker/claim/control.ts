import type { EndReason } from '../../core/runs/outcome.ts'

/** Carries outside events to a run: the end of the whole run, or of its current step. The first reason for the end counts. */
export class Control {
  readonly #run = new AbortController()
  #step = new AbortController()
  #reason: EndReason | null = null
  #lost = false
  #leaving = false
  #idle = false
  readonly #on_idle: () => void

  /** Whether the worker claims no other run while this one works. */
  readonly isolated: boolean

  /** @param on_idle called when the run begins to wait for another system */
  constructor(on_idle: () => void = () => {}, isolated = false) {
    this.#on_idle = on_idle
    this.isolated = isolated
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }
  get reason(): EndReason | null {
    return this.#reason
  }

  /** Whether the run belongs to another worker, whatever else ended it before. */
  get lost(): boolean {
    return this.#lost
  }
  /** Whether the run is handed to another worker before its next step. */
  get leaving(): boolean {
    return this.#leaving
  }

  /** Whether the run only waits for another system: then it does not count for the concurrency of the worker. */
  get idle(): boolean {
    return this.#idle
  }

  async whileIdle(wait: Promise<unknown>): Promise<void> {
    this.#idle = true
    if (this.#leaving) this.end({ kind: 'shutdown' })
    this.#on_idle()
    try {
      await wait
    } finally {
      this.#idle = false
    }
  }

  leave() {
    this.#leaving = true
    if (this.#idle) this.end({ kind: 'shutdown' })
  }

  end(reason: EndReason) {
    if (reason.kind === 'lost') this.#lost = true
    this.#reason ??= reason
    this.#run.abort()
  }

  interruptStep() {
    this.#step.abort()
  }

  /** Returns the signal of the next step: aborted with the run, or by an interruption from now on. */
  stepSignal(): AbortSignal {
    this.#step = new AbortController()
    return AbortSignal.any([this.#run.signal, this.#step.signal])
  }
}
