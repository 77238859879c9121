import type { StatusReason } from '../contract/runs.ts'

export type EndReason =
  | { kind: 'stop' }
  | { kind: 'shutdown' }
  | { kind: 'lost' }
  | { kind: 'paused'; reason: 'budget' | 'sandbox_lost' | 'user_request'; message: string }
  | { kind: 'failed'; reason: StatusReason; code: string; message: string; phase: string }

/** What reaches a run from outside while it works: the end of the whole run, or of the step it is at. The first reason for the end stays. */
export class Control {
  readonly #run = new AbortController()
  #step = new AbortController()
  #reason: EndReason | null = null
  #lost = false
  #leaving = false

  get signal(): AbortSignal {
    return this.#run.signal
  }
  get reason(): EndReason | null {
    return this.#reason
  }

  /** The run is not ours any more, whatever else ended it before. */
  get lost(): boolean {
    return this.#lost
  }
  /** Whether the run is to be given to another worker before its next step. */
  get leaving(): boolean {
    return this.#leaving
  }

  leave() {
    this.#leaving = true
  }

  end(reason: EndReason) {
    if (reason.kind === 'lost') this.#lost = true
    this.#reason ??= reason
    this.#run.abort()
  }

  interruptStep() {
    this.#step.abort()
  }

  /** For the next step: aborted with the run, or by an interruption from now on. */
  stepSignal(): AbortSignal {
    this.#step = new AbortController()
    return AbortSignal.any([this.#run.signal, this.#step.signal])
  }
}
