import { z } from 'zod'

export type Json = Record<string, unknown>

/** Schemas say on the wire what `meta({ wire })` says: an id in a path is an integer there, though it is parsed from text. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema: json }) => {
      const { wire, id, default: fallback } = (zodSchema as unknown as z.ZodType).meta() ?? {}
      if (wire) {
        const kept = json.description === undefined ? (wire as Json) : { ...(wire as Json), description: json.description }
        for (const key of Object.keys(json)) delete (json as Json)[key]
        Object.assign(json, kept)
      }
      if (fallback !== undefined) json.default = fallback as typeof json.default
      // Left out where text is parsed, because a default is of the parsed kind; ours are the same on the wire.
      if (zodSchema instanceof z.ZodDefault) json.default = zodSchema.def.defaultValue as typeof json.default
      // Every integer of JSON is within the safe range, and a date-time needs no pattern beside its format.
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
      if (json.format === 'date-time') delete json.pattern
      // An answer may gain keys (`/v1` changes by addition), so a client must not refuse those that it does not know.
      if (json.additionalProperties === false) delete json.additionalProperties
      // The examples of what has a name stand in the document's own list.
      if (id !== undefined) delete json.examples
    },
  }) as Json
  return rest
}

/** Moves the definitions that a schema carries to the document's components, and the references with them. */
export function hoist(schema: Json, components: Json): Json {
  const { $defs, id, ...body } = schema as Json & { $defs?: Record<string, Json>; id?: string }
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] ??= rewrite(definition)
  const rewritten = rewrite(body)
  if (typeof id !== 'string') return rewritten
  components[id] ??= rewritten
  return { $ref: `#/components/schemas/${id}` }
}

/** Turns local references into the document's, and drops the names by which zod knows a schema (a property called `id` is an object, not a name). */
function rewrite(value: Json): Json {
  const text = JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text, (_key, item) => {
    if (typeof item !== 'object' || item === null || typeof item.id !== 'string') return item
    const { id: _name, ...rest } = item
    return rest
  }) as Json
}
