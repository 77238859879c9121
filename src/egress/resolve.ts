import { lookup } from 'node:dns/promises'

/**
 * Creates a resolver for one sandbox. It resolves one name at a time, because the few threads of the system's
 * resolver are shared with the rest of the process.
 */
export function createResolver(): (host: string) => Promise<string[]> {
  let last: Promise<unknown> = Promise.resolve()
  return host => {
    const found = last.then(() => lookup(host, { all: true, verbatim: true }))
    last = found.catch(() => {})
    return found.then(entries => entries.map(entry => entry.address))
  }
}
