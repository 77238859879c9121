import type { z } from 'zod'
import type { EndpointName, Endpoints } from './endpoints.ts'

/**
 * The input and the output of each operation for a client: numbers where the wire has digits, and only
 * required fields are required. An operation without input has an index signature in zod, which is removed.
 */
type SentFields<Schema extends z.ZodType> = {
  [K in keyof z.input<Schema> as string extends K ? never : K]: K extends keyof z.output<Schema>
    ? OneOrSeveral<z.output<Schema>[K]>
    : never
}
/** A filter that is an array also accepts a single value. */
type OneOrSeveral<Value> = Value extends readonly (infer Item)[] ? Item | readonly Item[] : Value

/** `org_id` is optional: a client knows its organization. */
export type Params<N extends EndpointName> = 'org_id' extends keyof z.input<Endpoints[N]['params']>
  ? Omit<SentFields<Endpoints[N]['params']>, 'org_id'> & { org_id?: number }
  : SentFields<Endpoints[N]['params']>
export type Query<N extends EndpointName> = SentFields<Endpoints[N]['query']>
export type Body<N extends EndpointName> = Endpoints[N]['body'] extends z.ZodType
  ? z.input<Endpoints[N]['body']>
  : undefined
/** The JSON of a success; `unknown` for the document, never for a stream or a file. */
export type Result<N extends EndpointName> = Endpoints[N]['response'] extends z.ZodType
  ? z.output<Endpoints[N]['response']>
  : Endpoints[N]['response'] extends 'stream' | 'file'
    ? never
    : unknown
