import { z } from 'zod'

export type Json = Record<string, unknown>

/**
 * Returns the JSON schema of the wire format. `meta({ wire })` replaces what zod derives: an id in a path is
 * an integer there, though it is parsed from text. `meta({ wire_rules })` adds keywords for what a refinement
 * checks.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema: json }) => {
      const { wire, wire_rules, id, default: fallback } = (zodSchema as unknown as z.ZodType).meta() ?? {}
      if (wire) {
        const kept =
          json.description === undefined
            ? (wire as Json)
            : { ...(wire as Json), description: json.description }
        for (const key of Object.keys(json)) delete (json as Json)[key]
        Object.assign(json, kept)
      }
      Object.assign(json, wire_rules)
      if (fallback !== undefined) json.default = fallback as typeof json.default
      // zod omits it for parsed text, because a default has the parsed type; here both are the same on the
      // wire.
      if (zodSchema instanceof z.ZodDefault) json.default = zodSchema.def.defaultValue as typeof json.default
      // Every integer of JSON is within the safe range, and a date-time needs no pattern in addition to its
      // format.
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
      if (json.format === 'date-time') delete json.pattern
      // A response may gain keys (`/v1` changes by addition), so a client must not reject unknown ones.
      if (io === 'output' && json.additionalProperties === false) delete json.additionalProperties
      // The examples of a named schema are in the document's own list.
      if (id !== undefined) delete json.examples
    },
  }) as Json
  // zod copies all metadata into its result.
  return JSON.parse(JSON.stringify(rest, (key, value) => (key === 'wire_rules' ? undefined : value)))
}

/** Moves the definitions inside a schema to the document's components, with their references. */
export function hoist(schema: Json, components: Json): Json {
  const { $defs, id, ...body } = schema as Json & { $defs?: Record<string, Json>; id?: string }
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] ??= rewrite(definition)
  const rewritten = rewrite(body)
  if (typeof id !== 'string') return rewritten
  components[id] ??= rewritten
  return { $ref: `#/components/schemas/${id}` }
}

/**
 * Rewrites local references to the document's, and drops the names by which zod identifies a schema (a
 * property called `id` is an object, not a name).
 */
function rewrite(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'), (_key, item) => {
    if (typeof item !== 'object' || item === null || typeof item.id !== 'string') return item
    const { id: _name, ...rest } = item
    return rest
  })
}
