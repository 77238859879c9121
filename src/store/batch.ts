/**
 * Makes one call of all that ask in the same turn of the event loop. `load` answers in the order of its keys; when it fails, all who asked
 * in that turn fail.
 */
export function batched<K, R>(load: (keys: K[]) => Promise<R[]>, max = 200): (key: K) => Promise<R> {
  let waiting: { key: K; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []

  async function ask() {
    const asked = waiting
    waiting = []
    if (asked.length === 0) return
    try {
      const results = await load(asked.map(item => item.key))
      for (const [n, item] of asked.entries()) item.resolve(results[n] as R)
    } catch (error) {
      for (const item of asked) item.reject(error)
    }
  }

  return key =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (waiting.length === max) void ask()
      else if (waiting.length === 1) setImmediate(ask)
    })
}
