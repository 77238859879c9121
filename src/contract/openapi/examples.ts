import { z } from 'zod'
import type { Endpoint } from '../endpoint.ts'
import type { Json } from './schemas.ts'

/** Returns the `meta` of a schema; a schema that only transforms its input has that of the input. */
function metaOf(schema: z.ZodType): { id?: string; examples?: unknown[] } {
  return (schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : schema).meta() ?? {}
}
const ownExample = (schema: z.ZodType): unknown => metaOf(schema).examples?.[0]

/** Returns an example request body of this operation, or undefined. */
export const bodyExample = ({ body, examples }: Endpoint): unknown =>
  examples?.body ?? (body === null ? undefined : ownExample(body))

/** Returns an example response of this operation, or undefined. */
export const responseExample = ({ response, examples }: Endpoint): unknown =>
  examples?.response ?? (typeof response === 'string' ? undefined : ownExample(response))

/**
 * Returns the `examples` of a media type: by reference when the schema has a name and the example is its own.
 */
export function mediaExamples(
  schema: z.ZodType | null,
  example: unknown,
  components: Json,
): { examples?: Json } {
  if (example === undefined) return {}
  const name = schema === null ? undefined : metaOf(schema).id
  if (schema === null || name === undefined || example !== ownExample(schema))
    return { examples: { example: { value: example } } }
  components[name] = { value: example }
  return { examples: { [name]: { $ref: `#/components/examples/${name}` } } }
}
