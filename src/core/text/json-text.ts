// Part of the language since ES2026; the compiler's library does not know them yet.
const json = JSON as unknown as {
  rawJSON(text: string): object
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown
}

/**
 * What is wrong with a text that JSON.parse would take in silence: nested deeper than `max_depth`, or a key given twice in one object,
 * of which JSON.parse would keep the last. Null: nothing. One pass without recursion, to be made before anything recursive sees the text.
 */
export function jsonMistake(text: string, max_depth: number): string | null {
  // Of every open bracket: the keys so far, null for an array.
  const open: (Set<string> | null)[] = []
  let key_comes = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '"') {
      const end = stringEnd(text, i + 1)
      const keys = open.at(-1)
      if (key_comes && keys) {
        const key = text.slice(i, end + 1)
        if (keys.size === keys.add(spelled(key)).size) return `holds the key ${key.slice(0, 100)} twice`
      }
      key_comes = false
      i = end
    } else if (char === '{' || char === '[') {
      if (open.push(char === '{' ? new Set() : null) > max_depth) return `is nested deeper than ${max_depth}`
      key_comes = true
    } else if (char === ',') key_comes = true
    else if (char === '}' || char === ']') open.pop()
  }
  return null
}

/** Where a string that begins at `start` has its closing quote. */
function stringEnd(text: string, start: number): number {
  for (let at = start; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote
    at = quote + 1
  }
}

/** One spelling of a key: `"\u0061"` is `"a"`. What is no JSON string is left to JSON.parse to refuse. */
function spelled(key: string): string {
  if (!key.includes('\\')) return key
  try {
    return JSON.stringify(JSON.parse(key))
  } catch {
    return key
  }
}

/**
 * JSON.parse, but a number that a double cannot hold (an integer beyond 2^53, `1e999`) stays the text it was: JSON.stringify writes it
 * as it came. For values that are echoed and not calculated with.
 */
export function parseJsonExactly(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !isExact(value, source) ? json.rawJSON(source) : value,
  )
}

const isExact = (value: number, source: string) => Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(source))
