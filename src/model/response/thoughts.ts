/** Words of a response, as the trace has them. */
export type Words = { kind: 'text' | 'reasoning'; text: string }

/** How models mark a thought: the opening tag and the closing one, in any case. */
const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[think]', '[/think]'],
  ['\u25c1think\u25b7', '\u25c1/think\u25b7'],
] as const
const LONGEST_TAG = 20
/** Of the same length, unlike `toLowerCase`. */
const asciiLower = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
/** White space before a tag; more is the beginning of a text. */
const MAX_BLANKS = 200

/**
 * Separates thoughts in tags at the beginning of a text from the text after them: servers of open models pass
 * on what the template of the model writes. `add` returns the words that are complete, `end` the rest. A
 * thought that is never closed is a thought.
 */
export class ThoughtSplitter {
  #state: 'start' | 'thought' | 'text' = 'start'
  #is_after_thought = false
  #held = ''
  #closing = ''

  add(text: string): Words[] {
    const words: Words[] = []
    let rest = this.#held + text
    this.#held = ''
    while (rest !== '' && this.#state !== 'text')
      rest = this.#state === 'start' ? this.#begin(rest) : this.#think(rest, words)
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
    const lower = asciiLower(trimmed.slice(0, LONGEST_TAG))
    const tag = TAGS.find(([opening]) => lower.startsWith(opening))
    if (tag !== undefined) {
      this.#state = 'thought'
      this.#closing = tag[1]
      return trimmed.slice(tag[0].length)
    }
    const kept = this.#is_after_thought ? trimmed : text
    if (kept.length <= MAX_BLANKS && TAGS.some(([opening]) => opening.startsWith(lower))) {
      this.#held = kept
      return ''
    }
    this.#state = 'text'
    return kept
  }

  /**
   * Adds the thought up to its closing tag, and returns what follows; holds what may become the closing tag.
   */
  #think(text: string, words: Words[]): string {
    const lower = asciiLower(text)
    const end = lower.indexOf(this.#closing)
    const open = end < 0 ? text.length - overlap(lower, this.#closing) : end
    if (open > 0) words.push({ kind: 'reasoning', text: text.slice(0, open) })
    if (end >= 0) {
      this.#state = 'start'
      this.#is_after_thought = true
      return text.slice(end + this.#closing.length)
    }
    this.#held = text.slice(open)
    return ''
  }
}

/** Characters at the end of a text that may be the beginning of a word. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(text.length, word.length - 1); length > 0; length--)
    if (text.endsWith(word.slice(0, length))) return length
  return 0
}

/**
 * Separates a thought of which only the closing tag was sent, because the template of the model writes the
 * opening one; null: there is none. A tag in code, `</think>`, is part of the text.
 */
export function unopenedThought(text: string): { reasoning: string; text: string } | null {
  const lower = asciiLower(text)
  const closing = TAGS.map(([, each]) => each).find(each => lower.includes(each))
  if (closing === undefined) return null
  const at = lower.indexOf(closing)
  if (text[at - 1] === '`' || TAGS.some(([opening]) => lower.slice(0, at).includes(opening))) return null
  return { reasoning: text.slice(0, at).trim(), text: text.slice(at + closing.length).trim() }
}

/** The beginning of a line that opens or closes a block of code. */
const FENCE = /^[ \t]*(```|~~~)/

/**
 * Separates thoughts that begin a later line of a text, as models write them that think between their steps;
 * null: there is none. A tag in a block of code or within a line is part of the text, and so is one that is
 * not closed.
 */
export function laterThoughts(text: string): { reasoning: string; text: string } | null {
  const lower = asciiLower(text)
  const thoughts: string[] = []
  let shown = ''
  let fence = ''
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1 || text.length
    const line = lower.slice(at, end)
    const mark = FENCE.exec(line)?.[1] ?? ''
    if (mark !== '' && (fence === '' || fence === mark)) fence = fence === '' ? mark : ''
    const tag = fence === '' ? TAGS.find(([opening]) => line.trimStart().startsWith(opening)) : undefined
    const closed = tag === undefined ? end : lower.indexOf(tag[1], at)
    if (tag === undefined || closed < 0) shown += text.slice(at, closed < 0 ? text.length : end)
    else thoughts.push(text.slice(at + line.indexOf(tag[0]) + tag[0].length, closed).trim())
    at = closed < 0 ? text.length : tag === undefined ? end : afterBlanks(text, closed + tag[1].length)
  }
  return thoughts.length === 0 ? null : { reasoning: thoughts.join('\n'), text: shown.trim() }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charAt(at).trim() === '') at++
  return at
}
