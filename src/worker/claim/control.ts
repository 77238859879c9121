import type { TurnOutcome } from '../../core/runs/outcome.ts'

/**
 * Carries outside events to a run: the end of the whole turn, or of its current step. The first outcome that
 * is requested counts.
 */
export class Control {
  readonly #run = new AbortController()
  #step = new AbortController()
  #outcome: TurnOutcome | null = null
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

  /** The outcome of a turn that stopped as requested. */
  get outcome(): TurnOutcome {
    return this.#outcome ?? { kind: this.#leaving ? 'shutdown' : 'stop' }
  }

  /** Whether the run belongs to another worker, whatever else ended it before. */
  get lost(): boolean {
    return this.#lost
  }
  /** Whether the run is handed to another worker before its next step. */
  get leaving(): boolean {
    return this.#leaving
  }

  /**
   * Whether the run only waits for another system: then it does not count for the concurrency of the worker.
   */
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

  end(outcome: TurnOutcome) {
    if (outcome.kind === 'lost') this.#lost = true
    this.#outcome ??= outcome
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
