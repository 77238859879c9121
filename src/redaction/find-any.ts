/** A match: `which` is the index of the text in the list. */
export type Match = { start: number; end: number; which: number }
export type Finder = {
  /** Returns every match of every text, overlapping ones included. */
  all(text: string): Match[]
  /**
   * Returns the position from which the end of `text` may be an incomplete match, or an earlier one; the
   * length of `text` when there is none.
   */
  partialFrom(text: string): number
}

const BLOCK = 3
const MAX_WINDOW = 16
/**
 * How often the longest text is compared with the end of another: for a text that almost matches everywhere,
 * the result is an earlier position.
 */
const COMPARED = 64
/**
 * A longer text is matched by this many characters first, so that an input that almost matches everywhere
 * stays cheap.
 */
const HEAD = 256
const blockAt = (text: string, end: number) =>
  (text.charCodeAt(end) * 961 + text.charCodeAt(end - 1) * 31 + text.charCodeAt(end - 2)) & 0xffff

/**
 * Searches for all texts in one pass (Wu and Manber): most of the input is skipped, so the cost is about the
 * same for one text as for a thousand. Every text has at least 4 characters. For one with more than 256
 * characters a match of the first 256 is enough, and the match ends where the two differ; matches of such a
 * text do not overlap.
 */
export function finderOf(texts: readonly string[]): Finder {
  const index = blockIndex(texts)
  let beginnings: Beginnings | null = null
  return {
    all: text => (texts.length === 0 ? [] : findAll(texts, index, text)),
    partialFrom(text) {
      // Created on first use: most finders never need it.
      beginnings ??= beginningsOf(texts, index.window)
      return partialFrom(texts, beginnings, index.window, text)
    },
  }
}

/**
 * `jump`: how far the window may move when it ends with a block. `last`: the texts whose window ends with a
 * block.
 */
type BlockIndex = { window: number; jump: Uint8Array; last: Map<number, number[]> }
/** `heads`: the texts by their first window. `short`: all shorter beginnings. */
type Beginnings = { heads: Map<string, number[]>; short: Set<string>; longest: number }

function note<K>(map: Map<K, number[]>, key: K, which: number): void {
  const list = map.get(key)
  if (list) list.push(which)
  else map.set(key, [which])
}

function blockIndex(texts: readonly string[]): BlockIndex {
  const window = Math.min(MAX_WINDOW, ...texts.map(text => text.length))
  const jump = new Uint8Array(65_536).fill(window - BLOCK + 1)
  const last = new Map<number, number[]>()
  for (const [which, text] of texts.entries()) {
    for (let end = BLOCK - 1; end < window; end++) {
      const block = blockAt(text, end)
      jump[block] = Math.min(jump[block] ?? 0, window - 1 - end)
    }
    note(last, blockAt(text, window - 1), which)
  }
  return { window, jump, last }
}

function beginningsOf(texts: readonly string[], window: number): Beginnings {
  const heads = new Map<string, number[]>()
  const short = new Set<string>()
  for (const [which, text] of texts.entries()) {
    note(heads, text.slice(0, window), which)
    for (let length = 1; length < window; length++) short.add(text.slice(0, length))
  }
  return { heads, short, longest: texts.reduce((longest, text) => Math.max(longest, text.length), 0) }
}

function findAll(texts: readonly string[], { window, jump, last }: BlockIndex, text: string): Match[] {
  const found: Match[] = []
  const after = new Map<number, number>()
  for (let end = window - 1; end < text.length; ) {
    const block = blockAt(text, end)
    const further = jump[block] ?? 1
    if (further > 0) {
      end += further
      continue
    }
    const start = end - window + 1
    for (const which of last.get(block) ?? []) {
      const pattern = texts[which] ?? ''
      if (pattern.length <= HEAD) {
        if (text.startsWith(pattern, start)) found.push({ start, end: start + pattern.length, which })
      } else if (start >= (after.get(which) ?? 0) && text.startsWith(pattern.slice(0, HEAD), start)) {
        const match = { start, end: start + matchLength(pattern, text, start), which }
        after.set(which, match.end)
        found.push(match)
      }
    }
    end++
  }
  return found
}

function partialFrom(
  texts: readonly string[],
  { heads, short, longest }: Beginnings,
  window: number,
  text: string,
): number {
  let left = COMPARED * longest
  for (
    let start = Math.max(0, text.length - longest + 1);
    start <= text.length - window && longest > 0;
    start++
  ) {
    const rest = heads.get(text.substr(start, window))
    if (rest === undefined) continue
    left -= rest.length * (text.length - start)
    if (left < 0 || rest.some(which => isPrefixAt(texts[which] ?? '', text, start))) return start
  }
  for (let start = Math.max(0, text.length - window + 1); start < text.length; start++)
    if (short.has(text.slice(start))) return start
  return text.length
}

/** Returns how many characters of `pattern` match at `start`. */
function matchLength(pattern: string, text: string, start: number): number {
  let length = HEAD
  while (length < pattern.length && text.charCodeAt(start + length) === pattern.charCodeAt(length)) length++
  return length
}

/**
 * Returns whether everything from `start` on is a proper prefix of `pattern`. The last character is compared
 * first.
 */
function isPrefixAt(pattern: string, text: string, start: number): boolean {
  const length = text.length - start
  if (pattern.length <= length || pattern.charCodeAt(length - 1) !== text.charCodeAt(text.length - 1))
    return false
  return pattern.startsWith(text.slice(start))
}
