// Part of the language since ES2026; the compiler's library does not declare them yet.
const json = JSON as unknown as {
  rawJSON(text: string): object
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown
}

/**
 * Returns a key that an object of a JSON text has twice, of which JSON.parse keeps the last, or null.
 * One pass without recursion, for a text whose values were counted.
 */
export function repeatedKey(text: string): string | null {
  // For every open bracket: the keys so far, null for an array.
  const open: (Set<string> | null)[] = []
  let key_comes = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '"') {
      const end = stringEnd(text, i + 1)
      const keys = open.at(-1)
      if (key_comes && keys) {
        const key = text.slice(i, end + 1)
        if (keys.size === keys.add(spelled(key)).size) return key
      }
      key_comes = false
      i = end
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : null)
      key_comes = true
    } else if (char === ',') key_comes = true
    else if (char === '}' || char === ']') open.pop()
  }
  return null
}

/** Returns the position of the closing quote of a string that begins at `start`. */
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

/**
 * Returns the canonical spelling of a key: `"\u0061"` is `"a"`. An invalid JSON string is left to JSON.parse.
 */
function spelled(key: string): string {
  if (!key.includes('\\')) return key
  try {
    return JSON.stringify(JSON.parse(key))
  } catch {
    return key
  }
}

/**
 * Parses JSON like JSON.parse, but a number that a double cannot represent (an integer beyond 2^53, `1e999`)
 * keeps its text, which JSON.stringify writes unchanged. For values that are echoed and not calculated with.
 */
export function parseJsonExactly(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !isExact(value, source) ? json.rawJSON(source) : value,
  )
}

const isExact = (value: number, source: string) =>
  Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(source))
