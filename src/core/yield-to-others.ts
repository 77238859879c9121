/**
 * Returns when the event loop has run what was due: between the parts of long work, so that leases are
 * renewed and requests are served.
 */
export const yieldToOthers = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/**
 * Returns the results of a function for each item in order, and serves others between two of them: each may
 * have been written to be slow.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(work(item))
    await yieldToOthers()
  }
  return results
}
