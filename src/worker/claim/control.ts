import type { StatusReason } from '../../contract/runs/runs.ts'

export type EndReason =
  | { kind: 'stop' }
  | { kind: 'shutdown' }
  | { kind: 'lost' }
  | { kind: 'paused'; reason: 'budget' | 'user_request'; message: string }
  | { kind: 'sandbox_lost'; message: string; out_of_memory: boolean }
  /** `tool_name`: the tool that it is about, if any; whoever writes the end adds the one that was running. */
  | { kind: 'failed'; reason: StatusReason; code: string; message: string; phase: string; tool_name?: string | null }

/** What reaches a run from outside while it works: the end of the whole run, or of the step it is at. The first reason for the end stays. */
export class Control {
  readonly #run = new AbortController()
  #step = new AbortController()
  #reason: EndReason | null = null
  #lost = false
  #leaving = false
  #idle = false
  readonly #on_idle: () => void

  /** @param on_idle told when the run begins to wait for somebody far away */
  constructor(on_idle: () => void = () => {}) {
    this.#on_idle = on_idle
  }

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

  /** Whether the run only waits for somebody far away: it keeps its place from nobody then. */
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

  /** For the next step: aborted with the run, or by an interruption from now on. */
  stepSignal(): AbortSignal {
    this.#step = new AbortController()
    return AbortSignal.any([this.#run.signal, this.#step.signal])
  }
}
