/** Words of a response, as the trace has them. */
export type Words = { kind: 'text' | 'reasoning'; text: string }

const TAGS = ['<think>', '<thinking>'] as const
/** White space before a tag; more is the beginning of a text. */
const MAX_BLANKS = 200

/**
 * Separates a thought in tags at the beginning of a text from the text after it: servers of open models pass on what the template of the model
 * writes. `add` returns the words that are complete, `end` the rest. A thought that is never closed is a thought.
 */
export class ThoughtSplitter {
  #state: 'start' | 'thought' | 'after' | 'text' = 'start'
  #held = ''
  #closing = ''

  add(text: string): Words[] {
    const words: Words[] = []
    let rest = this.#held + text
    this.#held = ''
    if (this.#state === 'start') rest = this.#begin(rest)
    if (this.#state === 'thought') rest = this.#think(rest, words)
    if (this.#state === 'after') {
      rest = rest.trimStart()
      if (rest !== '') this.#state = 'text'
    }
    if (this.#state === 'text' && rest !== '') words.push({ kind: 'text', text: rest })
    return words
  }

  end(): Words[] {
    const text = this.#held
    this.#held = ''
    return text === '' ? [] : [{ kind: this.#state === 'thought' ? 'reasoning' : 'text', text }]
  }

  /** Returns what follows a tag, or the text without one; holds what may become a tag. */
  #begin(text: string): string {
    const trimmed = text.trimStart()
    const tag = TAGS.find(one => trimmed.startsWith(one))
    if (tag !== undefined) {
      this.#state = 'thought'
      this.#closing = tag.replace('<', '</')
      return trimmed.slice(tag.length)
    }
    if (text.length <= MAX_BLANKS && TAGS.some(one => one.startsWith(trimmed))) {
      this.#held = text
      return ''
    }
    this.#state = 'text'
    return text
  }

  /** Adds the thought up to its closing tag, and returns what follows; holds what may become the closing tag. */
  #think(text: string, words: Words[]): string {
    const end = text.indexOf(this.#closing)
    const open = end < 0 ? text.length - overlap(text, this.#closing) : end
    if (open > 0) words.push({ kind: 'reasoning', text: text.slice(0, open) })
    if (end >= 0) {
      this.#state = 'after'
      return text.slice(end + this.#closing.length)
    }
    this.#held = text.slice(open)
    return ''
  }
}

/** Characters at the end of a text that may be the beginning of a word. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(text.length, word.length - 1); length > 0; length--) if (text.endsWith(word.slice(0, length))) return length
  return 0
}

/**
 * Separates a thought of which only the closing tag was sent, because the template of the model writes the opening one; null: there is none.
 * A tag in code, `</think>`, is part of the text.
 */
export function unopenedThought(text: string): { reasoning: string; text: string } | null {
  const tag = TAGS.map(one => one.replace('<', '</')).find(one => text.includes(one))
  if (tag === undefined) return null
  const at = text.indexOf(tag)
  if (text[at - 1] === '`' || TAGS.some(one => text.slice(0, at).includes(one))) return null
  return { reasoning: text.slice(0, at).trim(), text: text.slice(at + tag.length).trim() }
}
