/**
 * Returns a function that batches lookups into calls of `load`, which returns results in the order of its
 * keys. A lookup waits for the end of the turn of the event loop, or of the batch before it, and is always
 * read after it was requested. Lookups of a batch for which `idOf` is the same share a result. When a batch
 * fails, all its lookups fail.
 */
export function batched<K, R>(
  load: (keys: K[]) => Promise<R[]>,
  idOf: (key: K) => string,
  max = 200,
): (key: K) => Promise<R> {
  type Lookup = {
    key: K
    promise: Promise<R>
    resolve: (result: R) => void
    reject: (error: unknown) => void
  }
  let waiting = new Map<string, Lookup>()
  let loading = false

  async function loadBatch() {
    const batch = [...waiting.values()]
    waiting = new Map()
    try {
      const results = await load(batch.map(({ key }) => key))
      for (const [n, { resolve }] of batch.entries()) resolve(results[n] as R)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  async function loadWaiting() {
    while (waiting.size > 0) await loadBatch()
    loading = false
  }

  return key => {
    const id = idOf(key)
    const same = waiting.get(id)
    if (same) return same.promise
    const lookup = { key, ...Promise.withResolvers<R>() }
    waiting.set(id, lookup)
    // A full batch does not wait for the one before it.
    if (waiting.size === max) void loadBatch()
    else if (!loading) {
      loading = true
      setImmediate(loadWaiting)
    }
    return lookup.promise
  }
}
