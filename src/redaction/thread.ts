import { parentPort } from 'node:worker_threads'
import { createRedactor, type Redactor } from './redact.ts'
import type { Outcome, Request } from './thread-pool.ts'

/** The worker thread: one request at a time, with the redactors that it received. */
const known = new Map<number, { redactor: Redactor; met: string[] }>()

parentPort?.on('message', (request: Request) => {
  parentPort?.postMessage(outcomeOf(request))
})

function outcomeOf({ redactor: id, values, forget, method, args }: Request): Outcome {
  try {
    if (forget !== null) known.delete(forget)
    if (values !== null) {
      const met: string[] = []
      known.set(id, { redactor: createRedactor(values, name => met.includes(name) || met.push(name)), met })
    }
    const own = known.get(id)
    if (!own) return { ok: false, why: 'the redactor is not known' }
    own.met.length = 0
    const result = (own.redactor[method] as (...args: unknown[]) => unknown)(...args)
    // An unchanged text is not sent back: the caller has it.
    return {
      ok: true,
      met: [...own.met],
      same: result === args[0],
      result: result === args[0] ? null : result,
    }
  } catch (error) {
    // The message of an error may contain a part of the text.
    return { ok: false, why: error instanceof Error ? error.name : 'unknown' }
  }
}
