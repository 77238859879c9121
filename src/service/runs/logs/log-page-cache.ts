/** A cache of pages of entries as text. Entries never change, so it is never stale. */
export type LogPages = { get(key: string): Buffer | undefined; put(key: string, page: Buffer): void }

/** Creates a cache of the most recently used pages, up to `max_bytes`. */
export function createLogPages(max_bytes: number): LogPages {
  const pages = new Map<string, Buffer>()
  let bytes = 0
  return {
    get(key) {
      const page = pages.get(key)
      if (page === undefined) return undefined
      pages.delete(key)
      pages.set(key, page)
      return page
    },
    put(key, page) {
      if (page.length > max_bytes || pages.has(key)) return
      pages.set(key, page)
      bytes += page.length
      for (const [oldest, old] of pages) {
        if (bytes <= max_bytes) return
        pages.delete(oldest)
        bytes -= old.length
      }
    },
  }
}
