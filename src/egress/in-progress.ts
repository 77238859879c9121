import { startQuietPolling } from '../core/polling.ts'
import type { Authority } from './authority.ts'
import { decide } from './decide-request.ts'
import type { ProxyConfiguration } from './proxy-configuration.ts'
import { RefusedAddressError } from './refused.ts'

const CHECK_INTERVAL_MS = 5_000

/**
 * Something that rules permit while it lasts. `signal` aborts with Refused when they no longer do. Disposing:
 * it has ended.
 */
type Permit = Disposable & { signal: AbortSignal }

/**
 * What is in progress by the rules of one sandbox or run: tunnels, and requests until the last byte of their
 * response.
 */
export type InProgress = {
  readonly size: number
  /** From here on it is checked, so it starts before the first decision: no change of the rules is missed. */
  enter(target: Authority, method: string): Permit
  /** Ends what changed rules no longer allow, and reports it. Happens by itself within seconds. */
  recheck(): Promise<void>
}

type Entry = { target: Authority; method: string; ending: AbortController }

export function createInProgress(configuration: ProxyConfiguration): InProgress {
  const entries = new Set<Entry>()
  let checking: Disposable | null = null
  // The addresses were checked when they were connected to.
  const by_rules_alone: ProxyConfiguration = { ...configuration, resolve: async () => [] }
  const recheck = async () => {
    for (const entry of entries) {
      const { target, method, ending } = entry
      const decision = await decide(by_rules_alone, target, method)
      if (decision.ok || decision.reason === null || !entries.delete(entry)) continue
      const { reason, why } = decision
      configuration.onRefused({ host: target.host, port: target.port, method, reason, why })
      ending.abort(new RefusedAddressError(`the address is no longer allowed: ${why}`))
    }
  }
  return {
    get size() {
      return entries.size
    },
    enter(target, method) {
      const entry: Entry = { target, method, ending: new AbortController() }
      entries.add(entry)
      checking ??= startQuietPolling(CHECK_INTERVAL_MS, recheck)
      return {
        signal: entry.ending.signal,
        [Symbol.dispose]() {
          entries.delete(entry)
          if (entries.size > 0) return
          checking?.[Symbol.dispose]()
          checking = null
        },
      }
    },
    recheck,
  }
}
