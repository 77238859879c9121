/** Returns a text without secrets. */
export type Redact = (text: string) => Promise<string>

/**
 * A text of a program outside of this service, which may contain secrets. It leaves this object redacted, and
 * shortened only after that: nothing recognizes a secret without its first or last character.
 */
export class Quote {
  readonly #text: string
  readonly #max_characters: number
  readonly #part: 'start' | 'end'

  /** `part`: which end of a longer text is shown. */
  constructor(text: string, max_characters: number, part: 'start' | 'end' = 'start') {
    this.#text = text
    this.#max_characters = max_characters
    this.#part = part
  }

  async shown(redact: Redact): Promise<string> {
    const text = await redact(this.#text)
    const shown =
      this.#part === 'start' ? text.slice(0, this.#max_characters) : text.slice(-this.#max_characters)
    return shown.toWellFormed()
  }
}

/**
 * An error whose message is of this service; `quote`: what a program outside of it has printed or responded,
 * which belongs after the message.
 */
export class QuotingError extends Error {
  readonly quote: Quote | null
  constructor(message: string, quote: Quote | null = null) {
    super(message)
    this.quote = quote
  }
}

/** Returns the message of an error, with what it quotes. */
export async function messageWithQuote(error: Error, redact: Redact): Promise<string> {
  if (!(error instanceof QuotingError) || error.quote === null) return error.message
  return `${error.message} ${await error.quote.shown(redact)}`.trim()
}
