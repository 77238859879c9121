import type { Endpoint } from '../contract/endpoint.ts'

/** The value of `format` for each content type other than JSON. */
const formats: Record<string, string> = { 'text/csv': 'csv', 'text/x-patch': 'patch' }

type Query = Record<string, unknown>

/**
 * Returns the query with the `format` that a client requests by `Accept`, whose first type counts. A `format`
 * of the query takes precedence, and types that the operation does not have are ignored: the response is then
 * JSON.
 */
export function withAcceptedFormat(
  { other_content_types = [] }: Endpoint,
  query: Query,
  accept: string | undefined,
): Query {
  const type = accept?.split(/[,;]/, 1)[0]?.trim().toLowerCase() ?? ''
  const format = other_content_types.includes(type) ? formats[type] : undefined
  return format === undefined || query.format !== undefined ? query : { ...query, format }
}
