import { BLOCKS, type Block, MAX_OPENING_CHARS, openingOf } from './thought-marks.ts'

/** Words of a response, as the trace has them. */
export type Words = { kind: 'text' | 'reasoning'; text: string }

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
  /** The part that is open; `text`: no other one follows. */
  #state: 'start' | 'text' | Block = 'start'
  #is_after_thought = false
  #held = ''

  add(text: string): Words[] {
    const words: Words[] = []
    let rest = this.#held + text
    this.#held = ''
    while (rest !== '' && this.#state !== 'text')
      rest = this.#state === 'start' ? this.#begin(rest) : this.#read(rest, this.#state, words)
    if (this.#state === 'text' && rest !== '') words.push({ kind: 'text', text: rest })
    return words
  }

  end(): Words[] {
    const text = this.#held
    this.#held = ''
    const kind = typeof this.#state === 'object' ? this.#state.kind : 'text'
    return text === '' ? [] : [{ kind, text }]
  }

  /** Returns what follows an opening, or the text without one; holds what may become an opening. */
  #begin(text: string): string {
    const trimmed = text.trimStart()
    const found = openingOf(asciiLower(trimmed.slice(0, MAX_OPENING_CHARS)), this.#is_after_thought)
    if (found !== null && found !== 'incomplete') {
      this.#state = found.block
      return trimmed.slice(found.length)
    }
    const kept = this.#is_after_thought ? trimmed : text
    if (kept.length - trimmed.length <= MAX_BLANKS && found === 'incomplete') {
      this.#held = kept
      return ''
    }
    this.#state = 'text'
    return kept
  }

  /** Adds the part up to its closing, and returns what follows; holds what may become the closing. */
  #read(text: string, block: Block, words: Words[]): string {
    const { kind, closing } = block
    const lower = asciiLower(text)
    const end = lower.indexOf(closing)
    const open = end < 0 ? text.length - overlap(lower, closing) : end
    if (open > 0) words.push({ kind, text: text.slice(0, open) })
    if (end >= 0) {
      this.#state = 'start'
      this.#is_after_thought = true
      return text.slice(end + closing.length)
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

/** Thoughts whose closing names them; the others close anything. */
const NAMED = BLOCKS.filter(
  ({ kind, closing }) => kind === 'reasoning' && /^[<[\u25c1](?:\/|\|end_)/.test(closing),
)

/**
 * Separates a thought of which only the closing tag was sent, because the template of the model writes the
 * opening one; null: there is none. A tag in code or in quotation marks, `</think>`, is part of the text.
 */
export function unopenedThought(text: string): { reasoning: string; text: string } | null {
  const lower = asciiLower(text)
  const closing = NAMED.map(each => each.closing).find(each => lower.includes(each))
  if (closing === undefined) return null
  const at = lower.indexOf(closing)
  const before = lower.slice(0, at)
  const mark = text.charAt(at - 1)
  if (mark === '`' || (/["']/.test(mark) && text.charAt(at + closing.length) === mark)) return null
  if (NAMED.some(({ opening }) => before.includes(opening.slice(0, -1))) || endsInBlock(before)) return null
  return { reasoning: text.slice(0, at).trim(), text: text.slice(at + closing.length).trim() }
}

/** The beginning of a line that opens or closes a block of code. */
const FENCE = /^[ \t]*(`{3,}|~{3,})/

/**
 * Returns the fence of the block of code that is open after a line, given that before it; `''`: none is. One
 * is closed by its own character, at least as often, without a word after it.
 */
function fenceAfter(line: string, open: string): string {
  const [start, fence] = FENCE.exec(line) ?? []
  if (start === undefined || fence === undefined) return open
  const word = line.slice(start.length).trim()
  if (open !== '') return fence.startsWith(open) && word === '' ? '' : open
  return fence.startsWith('`') && word.includes('`') ? '' : fence
}

const endsInBlock = (text: string): boolean =>
  text.split('\n').reduce((fence, line) => fenceAfter(line, fence), '') !== ''

/** The beginning of a line that Markdown shows as code. */
const INDENTED = /^(?: {4}| {0,3}\t)/

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
    fence = fenceAfter(line, fence)
    const blanks = line.length - line.trimStart().length
    const is_code = fence !== '' || INDENTED.test(line)
    const found = is_code ? null : openingOf(line.slice(blanks, blanks + MAX_OPENING_CHARS), false)
    const thought =
      found !== null && found !== 'incomplete' && found.block.kind === 'reasoning' ? found : null
    const closed = thought === null ? end : lower.indexOf(thought.block.closing, at)
    if (thought === null || closed < 0) shown += text.slice(at, closed < 0 ? text.length : end)
    else thoughts.push(text.slice(at + blanks + thought.length, closed).trim())
    if (thought === null) at = end
    else at = closed < 0 ? text.length : afterBlanks(text, closed + thought.block.closing.length)
  }
  return thoughts.length === 0 ? null : { reasoning: thoughts.join('\n'), text: shown.trim() }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charAt(at).trim() === '') at++
  return at
}
