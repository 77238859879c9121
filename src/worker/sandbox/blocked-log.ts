import type { Refusal } from '../../egress/policy.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { FencedError } from '../claim/fencing.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'

/** Different ones that have an entry each; what a command tries beyond them is counted. */
const MOST_ENTRIES = 50
const COMMAND_CHARACTERS = 300

type Known = { refusal: Refusal; times: number }

/**
 * What was refused on the way out of a sandbox, in the trace: the first time of a host, port and reason at once, as `egress_blocked`, and
 * how often each came again in one more entry at the end (specification.md#logs).
 */
export class BlockedLog {
  readonly #writer: RunWriter
  readonly #live: LiveChannel
  /** Said with each where it is not the agent. */
  readonly #of: { for?: 'setup' }
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, Known>()
  #others = 0
  #written: Promise<unknown> = Promise.resolve()

  constructor(writer: RunWriter, live: LiveChannel, whose: 'agent' | 'setup', onError: (error: unknown) => void) {
    this.#writer = writer
    this.#live = live
    this.#of = whose === 'setup' ? { for: whose } : {}
    this.#onError = onError
  }

  add(refusal: Refusal): void {
    const { host, port, method, reason, why } = refusal
    // What is no host is another text each time.
    const key = reason === 'malformed' ? reason : JSON.stringify([host, port, reason])
    const known = this.#known.get(key)
    if (known) known.times++
    else if (this.#known.size >= MOST_ENTRIES) this.#others++
    else {
      this.#known.set(key, { refusal, times: 1 })
      this.#write({ host, port, method }, { reason, why, ...this.#during() })
    }
  }

  /** Resolves when all of it is written, and what came again with it. */
  async finish(): Promise<void> {
    const again = [...this.#known.values()].filter(({ times }) => times > 1)
    if (again.length > 0 || this.#others > 0) {
      const hosts = again.map(({ refusal: { host, port, reason }, times }) => ({ host, port, reason, times }))
      const why = 'these were refused again in this turn'
      this.#write({}, { reason: 'again', why, hosts, ...(this.#others > 0 && { others: this.#others }) })
    }
    this.#known.clear()
    this.#others = 0
    await this.#written
  }

  /** Which command it was, as far as one is at work: something in the background may have done it too. */
  #during() {
    const { tool } = this.#live
    const command = tool === null ? undefined : Object.entries(tool.input ?? {}).find(([name]) => name === 'command')?.[1]
    return typeof command === 'string' ? { command: command.slice(0, COMMAND_CHARACTERS) } : {}
  }

  #write(input: Record<string, unknown>, output: Record<string, unknown>): void {
    const entry = serviceAction('egress_blocked', { ...this.#of, ...input }, { status: 'error', ...output }, 0)
    this.#written = this.#written
      .then(() => this.#writer.append({ entries: [entry] }))
      .catch(error => {
        if (!(error instanceof FencedError)) this.#onError(error)
      })
  }
}
