type Json = Record<string, unknown>

/** Values of a result that is neither tools nor content, such as what a server states about itself. */
const MAX_OTHER_VALUES = 2_000
/** Properties of an input schema: a tool with a tenth of them is left out. */
const MAX_PROPERTIES = 10_000
/** The texts of each kind of content that are read. */
const CONTENT: Record<string, readonly string[]> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
}

/**
 * Returns a result of a server with only those parts of its tools and content that are read. The SDK checks
 * it by schemas that describe each wrong part by every form that it could have had: 3.5 KB of text, so that
 * 100,000 empty parts took 16 s. A result with a wrong part becomes one with that part alone, and without
 * what is in it.
 */
export function checkedResult(result: unknown): unknown {
  if (!isObject(result)) return result
  const { tools, content } = result
  if (Array.isArray(tools)) return { ...result, tools: checkedList(tools, toolOf) }
  if (Array.isArray(content)) return { ...result, content: checkedList(content, contentOf) }
  return hasMoreValues(result) ? {} : result
}

/** `read` returns null for a wrong part. */
function checkedList(parts: unknown[], read: (part: Json) => Json | null): Json[] {
  const checked: Json[] = []
  for (const part of parts) {
    const known = isObject(part) ? read(part) : null
    if (known === null) return [{}]
    checked.push(known)
  }
  return checked
}

function toolOf({ name, description, inputSchema: schema }: Json): Json | null {
  if (typeof name !== 'string' || (description !== undefined && typeof description !== 'string')) return null
  if (!isObject(schema) || schema.type !== 'object') return null
  const { properties, required } = schema
  const has_names =
    required === undefined || (Array.isArray(required) && required.every(item => typeof item === 'string'))
  if (!has_names || (properties !== undefined && !(isObject(properties) && hasFewKeys(properties))))
    return null
  return { name, inputSchema: schema, ...(description !== undefined && { description }) }
}

const hasFewKeys = (properties: Json) => Object.keys(properties).length <= MAX_PROPERTIES

function contentOf({ type, resource, ...part }: Json): Json | null {
  if (type !== 'resource')
    return typeof type === 'string' ? withType(type, textsOf(part, CONTENT[type] ?? null)) : null
  if (!isObject(resource)) return null
  const read = textsOf(resource, ['uri', typeof resource.text === 'string' ? 'text' : 'blob'])
  return read === null ? null : { type, resource: read }
}

const withType = (type: string, texts: Json | null): Json | null => texts && { type, ...texts }

function textsOf(part: Json, fields: readonly string[] | null): Json | null {
  if (fields === null || fields.some(field => typeof part[field] !== 'string')) return null
  return Object.fromEntries(fields.map(field => [field, part[field]]))
}

function hasMoreValues(result: Json): boolean {
  // What a tool returns as values is read as JSON, and by no schema.
  const waiting: unknown[] = [{ ...result, structuredContent: null }]
  for (let values = 0; waiting.length > 0; values++) {
    const value = waiting.pop()
    if (values + waiting.length > MAX_OTHER_VALUES) return true
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) waiting.push(inner)
  }
  return false
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
