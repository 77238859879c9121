/**
 * Characters that are kept of a message from outside which is not redacted yet. `shortError` shows only its
 * beginning afterwards, so half a secret at this border, which nothing recognizes, is never shown.
 */
export const MAX_UNREDACTED_CHARS = 16_384
const MAX_ERROR_CHARS = 2_000

/** Returns the beginning of an error's message, which is redacted already. */
export const shortError = (message: string): string =>
  message.length <= MAX_ERROR_CHARS ? message : `${message.slice(0, MAX_ERROR_CHARS).toWellFormed()}…`

/** Keeps head and tail of a text that is too long, with a note between them on how much is missing. */
export function truncateText(text: string, max_chars: number): { text: string; cut: boolean } {
  if (text.length <= max_chars) return { text, cut: false }
  const half = Math.floor(max_chars / 2)
  const head = text.slice(0, half).toWellFormed()
  const tail = text.slice(-half).toWellFormed()
  return { text: `${head}\n… ${text.length - 2 * half} characters left out …\n${tail}`, cut: true }
}

const MAX_PARTS = 10_000
const MAX_KEY = 100

/**
 * Truncates the strings of a JSON value, each on its own and all together to `max`, and limits its depth and
 * number of parts; for entries of a trace and messages to a model.
 */
export function truncateStrings(value: unknown, max_chars: number): { value: unknown; cut: boolean } {
  let cut = false
  let left = max_chars
  let parts = MAX_PARTS
  const walk = (item: unknown, depth: number): unknown => {
    if (typeof item === 'string') {
      const result = truncateText(item, Math.max(200, left))
      left -= result.text.length
      cut ||= result.cut
      return result.text
    }
    if (typeof item !== 'object' || item === null) return item
    const all = depth > 20 ? [] : Array.isArray(item) ? item : Object.keys(item)
    const kept = all.slice(0, parts)
    parts -= kept.length
    cut ||= depth > 20 || kept.length < all.length
    if (Array.isArray(item)) return kept.map(part => walk(part, depth + 1))
    cut ||= kept.some(key => String(key).length > MAX_KEY)
    return Object.fromEntries(
      kept.map(key => [
        String(key).slice(0, MAX_KEY),
        walk((item as Record<string, unknown>)[key as string], depth + 1),
      ]),
    )
  }
  return { value: walk(value, 0), cut }
}

/** Returns the first and the last half of what is longer than `max` bytes; shorter input unchanged. */
export function truncateBytes(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length <= max) return bytes
  const head = Math.ceil(max / 2)
  return Buffer.concat([bytes.subarray(0, head), bytes.subarray(bytes.length - (max - head))])
}
