import type { PlainFetch } from './one-origin-fetch.ts'

const MAX_ENTRIES = 2_000
const MAX_BYTES = 32 * 1024 ** 2
/** A larger response is not kept: one of a few would push out all others. */
const MAX_ENTRY_BYTES = 1024 ** 2

type Entry = { etag: string; body: string; headers: [string, string][]; bytes: number }

/**
 * Responses that a forge may confirm instead of sending again, those used last, of all connections of this
 * process.
 */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #scopes = 0

  get size(): { entries: number; bytes: number } {
    return { entries: this.#entries.size, bytes: this.#bytes }
  }

  /** A namespace that nobody else has: credentials see no response of others. */
  newScope(): number {
    return ++this.#scopes
  }

  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, { etag, body, headers }: Omit<Entry, 'bytes'>): void {
    this.#drop(key)
    const bytes = key.length + etag.length + Buffer.byteLength(body) + JSON.stringify(headers).length
    if (bytes > MAX_ENTRY_BYTES) return
    this.#entries.set(key, { etag, body, headers, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}

/**
 * Returns a `fetch` for one set of credentials that sends `If-None-Match` with a GET whose response it knows.
 * A 304, which costs nothing of a rate limit, becomes the known response with the headers of now.
 */
export function conditionalFetch(fetch: PlainFetch, cache: ResponseCache): PlainFetch {
  const scope = cache.newScope()
  return async (url, init = {}) => {
    if ((init.method ?? 'GET') !== 'GET') return fetch(url, init)
    const key = `${scope} ${url}`
    const known = cache.get(key)
    const response = await fetch(
      url,
      known ? { ...init, headers: { ...init.headers, 'if-none-match': known.etag } } : init,
    )
    if (known && response.status === 304) {
      const headers = new Headers(known.headers)
      for (const [name, value] of response.headers) if (!name.startsWith('content-')) headers.set(name, value)
      return new Response(known.body, { status: 200, headers })
    }
    const etag = response.headers.get('etag')
    if (response.status !== 200 || etag === null) return response
    const body = await response.text()
    const headers = [...response.headers]
    cache.set(key, { etag, body, headers })
    return new Response(body, { status: 200, headers })
  }
}
