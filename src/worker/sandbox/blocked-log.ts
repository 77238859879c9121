import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Refusal } from '../../egress/proxy-configuration.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { FencedError } from '../claim/fenced-error.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'

/** How many different refusals get an entry each; more are only counted. */
const MAX_ENTRIES = 50
const COMMAND_CHARACTERS = 300

type KnownRefusal = { refusal: Refusal; times: number }

/**
 * Writes refused egress to the trace: the first refusal of a host, port and reason at once, as
 * `egress_blocked`, and the number of repetitions in one more entry at the end (specification.md#logs).
 */
export class BlockedLog {
  readonly #writer: RunWriter
  readonly #live: LiveChannel
  /** Part of each entry unless the agent caused it. */
  readonly #of: { for?: 'setup' }
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, KnownRefusal>()
  #others = 0
  #written: Promise<unknown> = Promise.resolve()

  constructor(
    writer: RunWriter,
    live: LiveChannel,
    purpose: 'agent' | 'setup',
    onError: (error: unknown) => void,
  ) {
    this.#writer = writer
    this.#live = live
    this.#of = purpose === 'setup' ? { for: purpose } : {}
    this.#onError = onError
  }

  add(refusal: Refusal): void {
    const { host, port, method, reason, why } = refusal
    // A malformed host is a different text each time.
    const key = reason === 'malformed' ? reason : JSON.stringify([host, port, reason])
    const known = this.#known.get(key)
    if (known) known.times++
    else if (this.#known.size >= MAX_ENTRIES) this.#others++
    else {
      this.#known.set(key, { refusal, times: 1 })
      this.#write({ host, port, method }, { reason, why, ...this.#during() })
    }
  }

  /** Resolves when all entries are written, including the one about repetitions. */
  async finish(): Promise<void> {
    const repeated = [...this.#known.values()].filter(({ times }) => times > 1)
    if (repeated.length > 0 || this.#others > 0) {
      const hosts = repeated.map(({ refusal: { host, port, reason }, times }) => ({
        host,
        port,
        reason,
        times,
      }))
      const why = 'these were refused repeatedly in this turn'
      this.#write({}, { reason: 'again', why, hosts, ...(this.#others > 0 && { others: this.#others }) })
    }
    this.#known.clear()
    this.#others = 0
    await this.#written
  }

  /** The command that is running; a background process may have caused the refusal too. */
  #during() {
    const { tool } = this.#live
    const command =
      tool === null ? undefined : Object.entries(tool.input ?? {}).find(([name]) => name === 'command')?.[1]
    return typeof command === 'string' ? { command: command.slice(0, COMMAND_CHARACTERS) } : {}
  }

  #write(input: Record<string, unknown>, output: Record<string, unknown>): void {
    const entry = serviceAction(
      actionTool.egress_blocked,
      { ...this.#of, ...input },
      { status: 'error', ...output },
      0,
    )
    this.#written = this.#written
      .then(() => this.#writer.append({ entries: [entry] }))
      .catch(error => {
        if (!(error instanceof FencedError)) this.#onError(error)
      })
  }
}
