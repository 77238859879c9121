/** Nested objects and lists of a schema. */
export const MAX_SCHEMA_DEPTH = 32

/** Whether a schema has at most this number of characters as JSON, and is not too deep to be walked. */
export const isSmallSchema = (schema: object, max_chars: number): boolean =>
  isShallow(schema, MAX_SCHEMA_DEPTH) && JSON.stringify(schema).length <= max_chars

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every(nested => isShallow(nested, depth - 1))
}

/**
 * Returns a schema with other texts: descriptions, values and the names of properties, which a model reads
 * all. `keyword`: that of a text.
 */
export function mapTexts(
  schema: Record<string, unknown>,
  map: (text: string, keyword?: string) => string,
): Record<string, unknown> {
  const mapped = (value: unknown, keyword: string): unknown => {
    if (typeof value === 'string') return map(value, keyword)
    if (Array.isArray(value)) return value.map(nested => mapped(nested, keyword))
    return typeof value === 'object' && value !== null ? mapTexts(Object(value), map) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [map(key), mapped(value, key)]))
}
