import { type JsonBounds, type JsonExcess, JsonMeter } from './json-meter.ts'

const [NEWLINE, RETURN] = [0x0a, 0x0d]
const FIELD = new TextEncoder().encode('data:')

/**
 * Counts the JSON in the data of each event of an event stream, before a parser collects it: the lines
 * `data:` of one event are one text. Lines end with LF, CR or both, and an empty line ends the event, as
 * browsers and libraries read it.
 */
export class EventMeter {
  readonly #data: JsonMeter
  /** Bytes of the current line that are `data:` so far; null: the line has another field. */
  #matched: number | null = 0
  #line_is_empty = true
  #after_return = false

  constructor(bounds: JsonBounds) {
    this.#data = new JsonMeter(bounds)
  }

  /** Counts the next bytes of the stream. Returns the first bound that an event exceeds, or null. */
  add(bytes: Uint8Array): JsonExcess | null {
    for (let at = 0; at < bytes.length; ) {
      if (this.#after_return && bytes[at] === NEWLINE) at++
      this.#after_return = false
      const end = lineEnd(bytes, at)
      const excess = this.#addToLine(bytes, at, end)
      if (excess !== null) return excess
      if (end === bytes.length) break
      this.#endLine()
      this.#after_return = bytes[end] === RETURN
      at = end + 1
    }
    return null
  }

  #addToLine(bytes: Uint8Array, start: number, end: number): JsonExcess | null {
    let at = start
    if (at < end) this.#line_is_empty = false
    // Libraries skip a byte order mark, also one that was encoded twice.
    while (at < end && this.#matched === 0 && (bytes[at] ?? 0) >= 0x80) at++
    while (at < end && this.#matched !== null && this.#matched < FIELD.length)
      this.#matched = bytes[at++] === FIELD[this.#matched] ? this.#matched + 1 : null
    return this.#matched === null ? null : this.#data.add(bytes, at, end)
  }

  #endLine(): void {
    if (this.#line_is_empty) this.#data.reset()
    this.#matched = 0
    this.#line_is_empty = true
  }
}

function lineEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== NEWLINE && bytes[at] !== RETURN) at++
  return at
}
