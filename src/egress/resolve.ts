import { lookup } from 'node:dns/promises'

/**
 * Resolves names as the machine does, one after another: the threads that do it are few, and who waits for a name here shall not hold up
 * the rest of the process. One for each sandbox.
 */
export function createResolver(): (host: string) => Promise<string[]> {
  let last: Promise<unknown> = Promise.resolve()
  return host => {
    const found = last.then(() => lookup(host, { all: true, verbatim: true }))
    last = found.catch(() => {})
    return found.then(entries => entries.map(entry => entry.address))
  }
}
