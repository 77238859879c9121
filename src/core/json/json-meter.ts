/**
 * What a JSON text may have. `values`: numbers, strings, lists and objects at all levels, without the names
 * of members.
 */
export type JsonBounds = { bytes: number; depth: number; values: number }

/** The bound that a text exceeds, and why it is refused, as the end of a sentence about the text. */
export type JsonExcess = { limit: keyof JsonBounds; max: number; message: string }

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [BLANK, OPEN, CLOSE, COMMA, STRING] = [1, 2, 3, 4, 5]
/** What each byte means outside of a string; 0: it is a part of a number or a word, or a colon. */
const kinds = new Uint8Array(256)
for (const [characters, kind] of [
  [' \t\n\r', BLANK],
  ['[{', OPEN],
  [']}', CLOSE],
  [',', COMMA],
  ['"', STRING],
] as const)
  for (const character of characters) kinds[character.charCodeAt(0)] = kind

/**
 * Counts a JSON text before anything parses it: one pass over its bytes in UTF-8, which may arrive in parts,
 * without recursion and in constant memory. It checks no syntax: a text that is not JSON is refused by the
 * parser, which stops at its first mistake.
 */
export class JsonMeter {
  readonly #bounds: JsonBounds
  #bytes = 0
  #depth = 0
  #values = 1
  #in_string = false
  #escaped = false
  /**
   * A bracket was the last character apart from white space: the next one begins the first value in it, or
   * closes it.
   */
  #opened = false

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
  }

  /** The number of values so far. */
  get values(): number {
    return this.#values
  }

  /** Forgets everything: another text begins. */
  reset(): void {
    this.#bytes = 0
    this.#depth = 0
    this.#values = 1
    this.#in_string = false
    this.#escaped = false
    this.#opened = false
  }

  /**
   * Counts the next part of the text, from `start` to before `end`. Returns the first bound that it exceeds,
   * or null.
   */
  add(bytes: Uint8Array, start = 0, end = bytes.length): JsonExcess | null {
    const { bytes: max_bytes, depth: max_depth, values: max_values } = this.#bounds
    this.#bytes += end - start
    if (this.#bytes > max_bytes)
      return { limit: 'bytes', max: max_bytes, message: `has more than ${max_bytes} bytes` }
    // Locals: a private field costs several times as much for each byte.
    let [depth, values, opened] = [this.#depth, this.#values, this.#opened]
    let at = this.#in_string ? this.#afterString(bytes, start, end) : start
    for (; at < end; at++) {
      const kind = kinds[bytes[at] ?? 0]
      if (kind === BLANK) continue
      if (kind === COMMA || (opened && kind !== CLOSE)) values++
      opened = kind === OPEN
      if (opened) depth++
      else if (kind === CLOSE) depth--
      else if (kind === STRING) at = this.#afterString(bytes, at + 1, end) - 1
      if (values > max_values || depth > max_depth) break
    }
    this.#depth = depth
    this.#values = values
    this.#opened = opened
    if (depth > max_depth)
      return { limit: 'depth', max: max_depth, message: `is nested deeper than ${max_depth}` }
    if (values > max_values)
      return { limit: 'values', max: max_values, message: `has more than ${max_values} values` }
    return null
  }

  /**
   * Returns the position after the quote that ends the current string, or `end` if it continues in the next
   * part.
   */
  #afterString(bytes: Uint8Array, start: number, end: number): number {
    let escaped = this.#escaped
    let at = start
    for (; at < end; at++) {
      const byte = bytes[at]
      if (escaped) escaped = false
      else if (byte === BACKSLASH) escaped = true
      else if (byte === QUOTE) break
    }
    this.#escaped = escaped
    this.#in_string = at >= end
    return at + 1
  }
}
