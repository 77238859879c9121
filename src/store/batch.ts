/**
 * Returns a function that batches all lookups of one turn of the event loop into one call of `load`, which returns results in the order of its
 * keys. When it fails, all lookups of the batch fail.
 */
export function batched<K, R>(load: (keys: K[]) => Promise<R[]>, max = 200): (key: K) => Promise<R> {
  let waiting: { key: K; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []

  async function loadBatch() {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      const results = await load(batch.map(item => item.key))
      for (const [n, item] of batch.entries()) item.resolve(results[n] as R)
    } catch (error) {
      for (const item of batch) item.reject(error)
    }
  }

  return key =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (waiting.length === max) void loadBatch()
      else if (waiting.length === 1) setImmediate(loadBatch)
    })
}
