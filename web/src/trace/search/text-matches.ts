/** A part of one of several adjacent texts. */
type TextPart = { text: number; start: number; end: number }

/**
 * Finds `q` in texts that follow each other without a gap, such as the text nodes of an entry, regardless of
 * case. Each match is the list of its parts, because it may span several texts. At most `limit` matches.
 */
export function textMatches(texts: readonly string[], q: string, limit: number): TextPart[][] {
  if (q === '') return []
  const starts: number[] = []
  let length = 0
  for (const text of texts) {
    starts.push(length)
    length += text.length
  }
  const all = folded(texts.join(''))
  const wanted = folded(q)
  const matches: TextPart[][] = []
  let first = 0
  for (
    let at = all.indexOf(wanted);
    at !== -1 && matches.length < limit;
    at = all.indexOf(wanted, at + wanted.length)
  ) {
    while (first + 1 < starts.length && (starts[first + 1] ?? 0) <= at) first++
    matches.push(partsOf(texts, starts, first, [at, at + wanted.length]))
  }
  return matches
}

/**
 * In lower case and of the same length, so that positions stay right: the few letters that would change it
 * are left as they are.
 */
function folded(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length
    ? lower
    : [...text].map(char => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join('')
}

function partsOf(
  texts: readonly string[],
  starts: number[],
  first: number,
  [from, to]: [number, number],
): TextPart[] {
  const parts: TextPart[] = []
  for (let text = first; text < texts.length; text++) {
    const begin = starts[text] ?? 0
    if (begin >= to) break
    const [start, end] = [Math.max(0, from - begin), Math.min(texts[text]?.length ?? 0, to - begin)]
    if (end > start) parts.push({ text, start, end })
  }
  return parts
}
