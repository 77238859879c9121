/**
 * Entries as the inside of a JSON list, which never change. `response`: the last response with them, of which
 * they are then a part, so that its bytes stay the same while the run does not change.
 */
export type LogPage = { entries: Buffer; response?: { head: string; tail: string; bytes: Buffer } }

/** A cache of pages of entries. Entries never change, so it is never stale. */
export type LogPages = { get(key: string): LogPage | undefined; put(key: string, page: () => LogPage): void }

/**
 * Returns the most that a page takes. A response is kept only while the rest of it is smaller than the
 * entries: it, and each of its two compressed forms, is less than twice as large as they, and so are the
 * texts of the rest.
 */
const mostBytes = ({ entries }: LogPage) => entries.length * 8

/** How many pages that were read once are remembered. */
const MAX_SEEN = 1_000

/**
 * Creates a cache of the most recently used pages, up to `max_bytes` with all that is kept beside their
 * entries. A page is kept when it is put a second time: one that is read once, as a reader of a whole trace
 * does, displaces no other, and the collector frees it at once.
 */
export function createLogPages(max_bytes: number): LogPages {
  const pages = new Map<string, LogPage>()
  const seen = new Set<string>()
  let bytes = 0
  /** Returns whether it was called for the page before. */
  function isSecond(key: string): boolean {
    if (seen.delete(key)) return true
    seen.add(key)
    for (const oldest of seen) {
      if (seen.size <= MAX_SEEN) break
      seen.delete(oldest)
    }
    return false
  }
  return {
    get(key) {
      const page = pages.get(key)
      if (page === undefined) return undefined
      pages.delete(key)
      pages.set(key, page)
      return page
    },
    put(key, read) {
      if (pages.has(key) || !isSecond(key)) return
      const page = read()
      if (mostBytes(page) > max_bytes) return
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
  const bytes = Buffer.concat([Buffer.from(head), page.entries, Buffer.from(tail)])
  const { entries, response } = pageOf(bytes, head, tail)
  if (response === undefined) return bytes
  page.entries = entries
  page.response = response
  return bytes
}

/** Returns the page of a response, with the response while that is not too large. */
export function pageOf(bytes: Buffer, head: string, tail: string): LogPage {
  const [before, after] = [Buffer.byteLength(head), Buffer.byteLength(tail)]
  const entries = bytes.subarray(before, bytes.length - after)
  // Not a part of the response, which would remain in memory with it.
  return before + after < entries.length
    ? { entries, response: { head, tail, bytes } }
    : { entries: Buffer.from(entries) }
}

/**
 * Returns `head`, the items separated by commas, and `tail`, written into one piece: others would cost the
 * collector more than the rest.
 */
export function listBytes(head: string, items: string[], tail: string): Buffer {
  const lengths = [head, ...items, tail].map(text => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafeSlow(
    lengths.reduce((sum, length) => sum + length, Math.max(items.length - 1, 0)),
  )
  let at = bytes.write(head)
  for (const [n, item] of items.entries()) {
    if (n > 0) at += bytes.write(',', at)
    at += bytes.write(item, at)
  }
  bytes.write(tail, at)
  return bytes
}
