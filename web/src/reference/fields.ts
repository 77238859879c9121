import type { ApiDocument, Parameter, Schema } from '../api/api-document.ts'

export type Field = {
  name: string
  type: string
  required: boolean
  deprecated: boolean
  description: string
  /** What is allowed, in words: `1 to 100`, `default 100`. */
  facts: string[]
  /** The values of an enum. */
  values: string[]
  /** The schema with its nested fields, if it has any. */
  inside: Schema | null
}

const prefix = '#/'

/** Resolves a reference; returns any other schema unchanged. */
export function resolve<T extends { $ref?: string }>(document: ApiDocument, value: T): T {
  if (value.$ref === undefined) return value
  const target = value.$ref
    .slice(prefix.length)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
  return (target ?? {}) as T
}

const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1)
const choices = (schema: Schema) => schema.anyOf ?? schema.oneOf
const isNull = (schema: Schema) => schema.type === 'null'

/** A schema without the alternative that only allows null. */
function essence(document: ApiDocument, schema: Schema): Schema {
  const others = (choices(schema) ?? []).filter(one => !isNull(resolve(document, one)))
  return others.length === 1 && others[0] ? others[0] : schema
}

/** The type in words: `integer`, `string or null`, `array of RunPullRequest`. */
export function typeOf(document: ApiDocument, schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return resolve(document, schema).enum ? 'string' : name
  const union = choices(schema)
  if (union) return [...new Set(union.map(one => typeOf(document, one)))].join(' or ')
  if (schema.type === 'array') return `array of ${schema.items ? typeOf(document, schema.items) : 'anything'}`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && !schema.properties) {
    const of = typeOf(document, schema.additionalProperties)
    return of === 'anything' ? 'object' : `object of ${of}`
  }
  return [schema.type ?? ('const' in schema ? typeof schema.const : 'anything')].flat().join(' or ')
}

// An id may be any number that JSON represents exactly; showing that would be noise.
const any_number = 1e14

function range(schema: Schema, min: string, max: string, unit: string): string[] {
  const low = typeof schema[min] === 'number' ? schema[min] : undefined
  const high = typeof schema[max] === 'number' && schema[max] < any_number ? schema[max] : undefined
  if (low === 0 && high === undefined) return []
  const words = (count: number) =>
    `${count.toLocaleString('en')}${unit && ` ${unit}${count === 1 ? '' : 's'}`}`
  if (low !== undefined && high !== undefined) return [`${low.toLocaleString('en')} to ${words(high)}`]
  if (low !== undefined) return [`at least ${words(low)}`]
  return high === undefined ? [] : [`at most ${words(high)}`]
}

function factsOf(document: ApiDocument, given: Schema): string[] {
  const schema = resolve(document, essence(document, given))
  return [
    ...range(schema, 'minimum', 'maximum', ''),
    ...range(schema, 'minLength', 'maxLength', 'character'),
    ...range(schema, 'minItems', 'maxItems', 'item'),
    ...(typeof schema.format === 'string' ? [schema.format] : []),
    ...('const' in schema ? [`always ${JSON.stringify(schema.const)}`] : []),
    ...('default' in given ? [`default ${JSON.stringify(given.default)}`] : []),
  ]
}

function valuesOf(document: ApiDocument, schema: Schema): string[] {
  const inner = resolve(document, essence(document, schema))
  const list = inner.enum ?? (inner.items ? resolve(document, inner.items).enum : undefined) ?? []
  return list.filter(value => value !== null).map(String)
}

/** The object whose fields are shown below this schema: itself, its items, or one of its alternatives. */
export function objectIn(document: ApiDocument, given: Schema): Schema | null {
  const schema = resolve(document, essence(document, given))
  if (schema.properties && Object.keys(schema.properties).length > 0) return schema
  const below = [
    schema.items,
    ...(choices(schema) ?? []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ]
  for (const one of below) {
    const found = one && objectIn(document, one)
    if (found) return found
  }
  return null
}

/** The description of a field, or else that of its named type. */
function descriptionOf(document: ApiDocument, schema: Schema): string {
  const descriptions = [schema, ...(choices(schema) ?? [])].map(
    one => one.description ?? resolve(document, one).description,
  )
  return descriptions.find(text => text !== undefined) ?? ''
}

const fieldOf = (document: ApiDocument, name: string, schema: Schema, required: boolean): Field => ({
  name,
  type: typeOf(document, schema),
  required,
  deprecated: schema.deprecated === true,
  description: descriptionOf(document, schema),
  facts: factsOf(document, schema),
  values: valuesOf(document, schema),
  inside: objectIn(document, schema),
})

/** The fields of an object. `required` is shown for requests only: a response always has all its fields. */
export function fieldsOf(document: ApiDocument, object: Schema): Field[] {
  return Object.entries(object.properties ?? {}).map(([name, schema]) =>
    fieldOf(document, name, schema, object.required?.includes(name) ?? false),
  )
}

export const parameterField = (
  document: ApiDocument,
  { name, schema, required = false, description }: Parameter,
): Field => fieldOf(document, name, description === undefined ? schema : { ...schema, description }, required)
