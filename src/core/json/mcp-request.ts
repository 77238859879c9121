/**
 * What a message of an MCP client may have apart from the arguments of a call, which no schema of the SDK
 * reads. The SDK describes each wrong value of the rest in its response, and repeats names: an `initialize`
 * with 120,000 icons had a response of 31 MB.
 */
const MAX_VALUES = 500
const MAX_CHARACTERS = 64 * 1024

/**
 * Returns why a message of an MCP client is refused before the SDK reads it, as the end of a sentence about
 * it; null: it is not.
 */
export function mcpRequestExcess(message: unknown): string | null {
  const { params } = Object(message)
  const outside = isObject(params) ? { ...Object(message), params: { ...params, arguments: null } } : message
  const { values, characters } = sizeOf(outside)
  if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values apart from the arguments of a call`
  return characters > MAX_CHARACTERS
    ? `has more than ${MAX_CHARACTERS} characters apart from the arguments of a call`
    : null
}

/** Counts up to the first bound that is exceeded. */
function sizeOf(message: unknown): { values: number; characters: number } {
  const waiting = [message]
  let values = 0
  let characters = 0
  while (waiting.length > 0 && values <= MAX_VALUES && characters <= MAX_CHARACTERS) {
    const value = waiting.pop()
    values++
    if (typeof value === 'string') characters += value.length
    if (Array.isArray(value)) waiting.push(...value.slice(0, MAX_VALUES + 1))
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) {
        characters += name.length
        waiting.push(inner)
      }
  }
  return { values: values + waiting.length, characters }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
