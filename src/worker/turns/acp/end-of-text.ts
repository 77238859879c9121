/** Characters of a message of the agent that are kept. */
const MAX_CHARACTERS = 256 * 1024

/**
 * The end of a text that arrives in pieces. It begins with a whole line: nothing recognizes a secret without
 * its first characters, so the rest of a line whose beginning was dropped is dropped too.
 */
export class EndOfText {
  #text = ''
  #in_dropped_line = false

  add(piece: string): void {
    const line = this.#in_dropped_line ? piece.indexOf('\n') : -1
    if (this.#in_dropped_line && line < 0) return
    this.#in_dropped_line = false
    this.#text += piece.slice(line + 1)
    if (this.#text.length <= MAX_CHARACTERS) return
    const end = this.#text.indexOf('\n', this.#text.length - MAX_CHARACTERS - 1)
    this.#in_dropped_line = end < 0
    this.#text = end < 0 ? '' : this.#text.slice(end + 1)
  }

  /** Returns the text, and forgets it. */
  take(): string {
    const text = this.#text
    this.#text = ''
    this.#in_dropped_line = false
    return text
  }
}
