import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { documentText } from '../../../scripts/write-openapi.ts'

export type Schema = {
  deprecated?: boolean
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | false
  maxProperties?: number
  propertyNames?: Schema
}
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }
type Content = Record<string, { schema: Schema }>
export type Operation = {
  operationId: string
  method: string
  path: string
  parameters: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: Content }>
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** The OpenAPI document as a client reads it: as text, independent of the code that generated it. */
const document = JSON.parse(documentText()) as Document

/** Every operation of the document, at its own path and at its aliases'. */
export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
  })),
)

/** A schema of the document, with its reference followed. */
export function followed(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : followed(document.components.schemas[name] as Schema)
}

const ajv = new Ajv2020({ strict: false, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema(document, 'document')
ajv.addSchema(closed(document) as object, 'closed')

const compiled = new Map<string, ValidateFunction>()
function validator(location: string): ValidateFunction {
  const known = compiled.get(location) ?? ajv.compile({ $ref: location })
  compiled.set(location, known)
  return known
}

/** Whether a value is valid for this request body in the document. */
export const isAllowedBody = ({ path, method }: Operation, value: unknown): boolean =>
  validator(
    pointer(
      'document',
      'paths',
      path,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    ),
  )(value) as boolean

/** Whether a value is valid for this parameter in the document. */
export const isAllowedParameter = (
  { path, method, parameters }: Operation,
  parameter: Parameter,
  value: unknown,
): boolean =>
  validator(
    pointer(
      'document',
      'paths',
      path,
      method.toLowerCase(),
      'parameters',
      `${parameters.indexOf(parameter)}`,
      'schema',
    ),
  )(value) as boolean

/** The errors of a JSON response of this status according to the document, unknown keys included. */
export function mistakesOf({ path, method, responses }: Operation, status: number, body: unknown): unknown[] {
  const location =
    status === 200
      ? pointer(
          'closed',
          'paths',
          path,
          method.toLowerCase(),
          'responses',
          '200',
          'content',
          'application/json',
          'schema',
        )
      : pointer('closed', 'components', 'schemas', 'Problem')
  if (responses[status] === undefined) return [`status ${status} is not in the document`]
  const check = validator(location)
  return check(body)
    ? []
    : (check.errors ?? []).map(({ instancePath, message, params }) => ({ instancePath, message, params }))
}

function pointer(document_name: string, ...parts: string[]): string {
  return `${document_name}#/${parts.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

/**
 * The same document, but objects have only the properties that it names: undocumented ones must not be sent.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]))
  const is_object = inner.type === 'object' && 'properties' in inner && !('additionalProperties' in inner)
  return is_object ? { ...inner, additionalProperties: false } : inner
}
