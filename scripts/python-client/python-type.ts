import type { Json } from '../../src/contract/openapi/schemas.ts'

/** Defines an inline object as a class of its own, and returns its name. */
export type DefineObject = (field: string, schema: Json) => string

/** `output`: objects are models, and an enum may get values that this client does not know. */
export type TypeContext = {
  output: boolean
  nameOf(reference: string): string
  isEnum(reference: string): boolean
  define: DefineObject
}

const primitives: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

/** Returns a JSON schema as a Python type. Throws for a schema that it has no type for. */
export function pythonType(schema: Json, field: string, context: TypeContext): string {
  const { $ref, const: constant, enum: values, anyOf, oneOf, type } = schema
  if (typeof $ref === 'string') {
    const name = $ref.replace('#/components/schemas/', '')
    return context.output && context.isEnum(name) ? `${context.nameOf(name)} | str` : context.nameOf(name)
  }
  if (constant !== undefined)
    return typeof constant === 'string' ? `Literal[${JSON.stringify(constant)}]` : pythonLiteral(constant)
  if (Array.isArray(values)) return context.output ? `${literal(values)} | str` : literal(values)
  const choices =
    anyOf ?? oneOf ?? (Array.isArray(type) ? type.map(one => ({ ...schema, type: one })) : undefined)
  if (Array.isArray(choices)) return union(choices.map(choice => pythonType(choice as Json, field, context)))
  if (type === 'array') return `list[${pythonType((schema.items ?? {}) as Json, field, context)}]`
  if (type === 'object') return objectType(schema, field, context)
  if (typeof type === 'string' && primitives[type] !== undefined) return primitives[type]
  if (type === undefined && Object.keys(schema).every(key => key === 'description')) return 'Any'
  throw new Error(`no Python type for ${field}: ${JSON.stringify(schema).slice(0, 300)}`)
}

function objectType(schema: Json, field: string, context: TypeContext): string {
  if (schema.properties !== undefined) return context.define(field, schema)
  const { additionalProperties } = schema
  const values =
    typeof additionalProperties === 'object'
      ? pythonType(additionalProperties as Json, field, context)
      : 'Any'
  return `dict[str, ${values}]`
}

export const literal = (values: unknown[]) =>
  `Literal[${values.map(value => JSON.stringify(value)).join(', ')}]`

const pythonLiteral = (value: unknown) =>
  `Literal[${value === true ? 'True' : value === false ? 'False' : String(value)}]`

/** Without repetitions, `None` last. */
function union(types: string[]): string {
  const parts = [...new Set(types.flatMap(type => type.split(/ \| (?![^[]*\])/)))]
  return [...parts.filter(part => part !== 'None'), ...parts.filter(part => part === 'None')].join(' | ')
}

const keywords = new Set([
  'from',
  'import',
  'class',
  'global',
  'in',
  'is',
  'not',
  'pass',
  'return',
  'with',
  'as',
  'def',
  'del',
])

/** A name of the API as one of Python: `from` is a keyword and becomes `from_`. */
export function pythonName(name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} cannot be a name in Python`)
  return keywords.has(name) ? `${name}_` : name
}

export const snakeCase = (name: string) =>
  name.replace(/[A-Z]+(?![a-z])|[A-Z]/g, (part, at) => (at === 0 ? '' : '_') + part.toLowerCase())

export const pascalCase = (name: string) =>
  name.replace(/(^|_)([a-z])/g, (_match, _separator, letter: string) => letter.toUpperCase())

/** A text as a docstring. */
export function docstring(text: string, indent: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').trim()
  const lines = safe.split('\n').map((line, n) => (n === 0 || line === '' ? line : indent + line))
  const body = lines.join('\n')
  return `${indent}"""${body}${/"$/.test(body) ? ' ' : ''}${lines.length > 1 ? `\n${indent}` : ''}"""\n`
}
