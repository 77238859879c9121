import type { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import type { FieldError } from '../contract/error-codes.ts'
import { ServiceError } from '../core/service-error.ts'
import { schemaMessage } from '../core/text/schema-message.ts'

/**
 * Parses path, query and body by the table's schemas; reports all mistakes in one 400. Unknown keys are
 * ignored (specification.md#create-and-resume).
 */
export function parseInput(
  endpoint: Endpoint,
  raw: { params: unknown; query: Record<string, unknown>; body: unknown },
) {
  const errors: FieldError[] = []
  const params = parse(endpoint.params, raw.params, 'path', errors)
  const query = parse(endpoint.query, repeated(endpoint, raw.query), 'query', errors)
  const body = endpoint.body === null ? undefined : parse(endpoint.body, raw.body, 'body', errors)
  const first = errors[0]
  if (first) {
    const where = first.loc.slice(1).join('.')
    throw new ServiceError('invalid_request', `${where || first.loc[0]}: ${first.msg}`, { errors })
  }
  return { params, query, body }
}

function parse(
  schema: z.ZodType,
  value: unknown,
  source: 'path' | 'query' | 'body',
  errors: FieldError[],
): unknown {
  const parsed = schema.safeParse(value, { error: schemaMessage })
  if (parsed.success) return parsed.data
  if (value === undefined)
    return void errors.push({ loc: [source], msg: 'is missing: send a JSON object', type: 'missing' })
  for (const issue of parsed.error.issues.slice(0, MAX_ERRORS))
    errors.push({
      // The error names a query parameter as a whole, whichever of its values is wrong.
      loc: [
        source,
        ...(source === 'query' ? issue.path.slice(0, 1) : issue.path).map(part =>
          typeof part === 'number' ? part : shown(String(part)),
        ),
      ],
      msg: shown(issue.message),
      type: issue.code,
    })
  return undefined
}

const MAX_ERRORS = 50
/** A key, or a message that names keys, may be as long as the body. */
const MAX_SHOWN_CHARACTERS = 500
const shown = (text: string): string =>
  text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…`

/**
 * `limit[]=1` is another spelling of a repeated key: values for a filter that takes several, and refused
 * where only one value is allowed.
 */
function repeated(endpoint: Endpoint, query: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(query)) {
    const name = key.split('[', 1)[0] ?? ''
    if (name !== key && !Object.hasOwn(endpoint.query.shape, name)) continue
    result[name] = name === key && !Object.hasOwn(result, name) ? value : [result[name] ?? [], value].flat()
  }
  return result
}
