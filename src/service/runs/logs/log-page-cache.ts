/**
 * Entries as the inside of a JSON list, which never change. `response`: the last response with them, of which they are then a part, so that its
 * bytes stay the same while the run does not change.
 */
export type LogPage = { entries: Buffer; response?: { head: string; tail: string; bytes: Buffer } }

/** A cache of pages of entries. Entries never change, so it is never stale. */
export type LogPages = { get(key: string): LogPage | undefined; put(key: string, page: LogPage): void }

/**
 * Returns the most that a page takes. A response is kept only while the rest of it is smaller than the entries: it, and each of its two
 * compressed forms, is less than twice as large as they, and so are the texts of the rest.
 */
const mostBytes = ({ entries }: LogPage) => entries.length * 8

/** Creates a cache of the most recently used pages, up to `max_bytes` with all that is kept beside their entries. */
export function createLogPages(max_bytes: number): LogPages {
  const pages = new Map<string, LogPage>()
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
      if (mostBytes(page) > max_bytes || pages.has(key)) return
      pages.set(key, page)
      bytes += mostBytes(page)
      for (const [oldest, old] of pages) {
        if (bytes <= max_bytes) return
        pages.delete(oldest)
        bytes -= mostBytes(old)
      }
    },
  }
}

/** Returns `head`, the entries and `tail` as one piece: the same one as before when neither has changed. */
export function responseWith(page: LogPage, head: string, tail: string): Buffer {
  if (page.response?.head === head && page.response.tail === tail) return page.response.bytes
  const [before, after] = [Buffer.from(head), Buffer.from(tail)]
  const bytes = Buffer.concat([before, page.entries, after])
  if (before.length + after.length >= page.entries.length) return bytes
  page.entries = bytes.subarray(before.length, bytes.length - after.length)
  page.response = { head, tail, bytes }
  return bytes
}
