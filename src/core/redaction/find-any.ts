/** Where one of many texts stands: `which` is its place in the list. */
export type Place = { start: number; end: number; which: number }
export type Finder = {
  /** Every place of every text, those that overlap too. */
  all(text: string): Place[]
  /** Where the longest ending of `text` begins that one of the texts goes on from, or before it; its length when there is none. */
  begun(text: string): number
}

const BLOCK = 3
const MOST_WINDOW = 16
/** So often the longest text may be compared with the end of another: of one that nearly begins everywhere, more than has begun is named. */
const COMPARED = 64
/** A longer text is known by as much of its beginning: nobody shall keep a process busy with one that nearly stands everywhere. */
const HEAD = 256
const blockAt = (text: string, end: number) =>
  (text.charCodeAt(end) * 961 + text.charCodeAt(end - 1) * 31 + text.charCodeAt(end - 2)) & 0xffff

/**
 * Looks for all texts at once (Wu and Manber): most of what is looked through is jumped over, so that it costs about the same for one text
 * as for a thousand. Every text has at least 4 characters. Of one with more than 256 the beginning is enough, and its place ends where the
 * two part; places of such a text do not overlap.
 */
export function finderOf(texts: readonly string[]): Finder {
  const window = Math.min(MOST_WINDOW, ...texts.map(text => text.length))
  const jump = new Uint8Array(65_536).fill(window - BLOCK + 1)
  const last = new Map<number, number[]>()
  const note = <K>(map: Map<K, number[]>, key: K, which: number) => {
    const list = map.get(key)
    if (list) list.push(which)
    else map.set(key, [which])
  }
  for (const [which, text] of texts.entries()) {
    for (let end = BLOCK - 1; end < window; end++) {
      const block = blockAt(text, end)
      jump[block] = Math.min(jump[block] ?? 0, window - 1 - end)
    }
    note(last, blockAt(text, window - 1), which)
  }
  /** Made when somebody asks how far a text has begun: most never do. */
  const makeBeginnings = () => {
    const heads = new Map<string, number[]>()
    const short = new Set<string>()
    for (const [which, text] of texts.entries()) {
      note(heads, text.slice(0, window), which)
      for (let length = 1; length < window; length++) short.add(text.slice(0, length))
    }
    return { heads, short, longest: texts.reduce((most, text) => Math.max(most, text.length), 0) }
  }
  let made: ReturnType<typeof makeBeginnings> | null = null

  return {
    all(text) {
      const found: Place[] = []
      const after = new Map<number, number>()
      if (texts.length === 0) return found
      for (let end = window - 1; end < text.length; ) {
        const block = blockAt(text, end)
        const further = jump[block] ?? 1
        if (further > 0) {
          end += further
          continue
        }
        const start = end - window + 1
        for (const which of last.get(block) ?? []) {
          const sought = texts[which] ?? ''
          if (sought.length <= HEAD) {
            if (text.startsWith(sought, start)) found.push({ start, end: start + sought.length, which })
          } else if (start >= (after.get(which) ?? 0) && text.startsWith(sought.slice(0, HEAD), start)) {
            const place = { start, end: start + agreement(sought, text, start), which }
            after.set(which, place.end)
            found.push(place)
          }
        }
        end++
      }
      return found
    },
    begun(text) {
      made ??= makeBeginnings()
      const { heads, short, longest } = made
      let left = COMPARED * longest
      for (let start = Math.max(0, text.length - longest + 1); start <= text.length - window && longest > 0; start++) {
        const rest = heads.get(text.substr(start, window))
        if (rest === undefined) continue
        left -= rest.length * (text.length - start)
        if (left < 0 || rest.some(which => goesOn(texts[which] ?? '', text, start))) return start
      }
      for (let start = Math.max(0, text.length - window + 1); start < text.length; start++) if (short.has(text.slice(start))) return start
      return text.length
    },
  }
}

/** How many characters of `sought` stand at `start`. */
function agreement(sought: string, text: string, start: number): number {
  let length = HEAD
  while (length < sought.length && text.charCodeAt(start + length) === sought.charCodeAt(length)) length++
  return length
}

/** Whether all that stands from `start` on is the beginning of `sought`, and not all of it. The last character is looked at first. */
function goesOn(sought: string, text: string, start: number): boolean {
  const length = text.length - start
  if (sought.length <= length || sought.charCodeAt(length - 1) !== text.charCodeAt(text.length - 1)) return false
  return sought.startsWith(text.slice(start))
}
