import { countedTokens } from '../../../core/runs/budget/limits.ts'
import type { Reservation } from '../../../core/runs/budget/pot.ts'
import { plainDecimal } from '../../../core/text/plain-decimal.ts'
import type { GatewayCall } from '../../../gateway/meter.ts'
import type { ModelError, ModelUsage } from '../../../model/port.ts'
import type { Addition } from '../../../store/runs/append.ts'
import { errorEntry } from '../../../trace/entry.ts'
import type { RunWriter } from '../../claim/run-writer.ts'
import { deltaOf, record, usageOf } from '../journal-records.ts'

/**
 * Records the model calls of a program: in the kinds of records of the built-in agent, with a key, because
 * they may be parallel. Each write states what is reserved for all calls in flight, so writes are in the
 * order in which calls started and ended.
 */
export class GatewayJournal {
  readonly #writer: RunWriter
  readonly #model: string
  readonly #open = new Map<string, Reservation>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(writer: RunWriter, model: string) {
    this.#writer = writer
    this.#model = model
  }

  get calls(): number {
    return this.#open.size
  }

  /** US dollars that are reserved for the calls in flight. */
  get reserved_usd(): number {
    return [...this.#open.values()].reduce((sum, { cost_usd }) => sum + Number(cost_usd ?? 0), 0)
  }

  started({ key, reservation, has_tools }: GatewayCall): Promise<void> {
    this.#open.set(key, reservation)
    return this.#write({ records: [record('model_started', key, { reservation, has_tools })] })
  }

  /** A recorded call is not sent. */
  notCalled({ key }: GatewayCall): Promise<void> {
    this.#open.delete(key)
    return this.#write({ records: [record('model_failed', key, { code: 'not_called', charge: null })] })
  }

  /** What a response contained is in the updates of the program. */
  responded({ key }: GatewayCall, usage: ModelUsage): Promise<void> {
    this.#open.delete(key)
    return this.#write({
      records: [
        record('model_answered', key, { messages: [], tool_calls: [], tokens: countedTokens(usage), usage }),
      ],
      usage: deltaOf(this.#model, 1, usage),
    })
  }

  /** Programs repeat failed calls themselves. `left`: the program had ended its turn before. */
  failed(
    { key }: GatewayCall,
    { code, message, retryable, http_status }: ModelError,
    { charge, left }: { charge: Reservation | null; left: boolean },
  ): Promise<void> {
    this.#open.delete(key)
    const details = {
      code,
      message,
      retryable,
      phase: 'model',
      attempt: 1,
      http_status,
      retry_in_ms: retryable ? 0 : null,
    }
    return this.#write({
      entries: retryable ? [errorEntry(details)] : [],
      records: [record('model_failed', key, { code, attempt: 1, charge, ...(left && { left }) })],
      ...(charge && { usage: usageOf(charge) }),
    })
  }

  #write(addition: Addition): Promise<void> {
    const reserved_usd = plainDecimal(this.reserved_usd.toFixed(10))
    const written = this.#last.then(() => this.#writer.append({ ...addition, reserved_usd }))
    this.#last = written.catch(() => {})
    return written.then(() => {})
  }
}
