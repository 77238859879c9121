import fc from 'fast-check'
import { followed, type Schema } from './document.ts'

/** Texts and numbers at which services break, regardless of their meaning. */
const evil_words = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e3',
    '0x10',
    'null',
    'true',
    '\0',
    'a\0b',
    '\u202e',
    "'; drop table runs; --",
    '%',
    '%00',
    '\\',
    '{}',
    '[]',
  ],
  ...[
    '../../etc/passwd',
    '{{7*7}}',
    '9'.repeat(30),
    'x'.repeat(300),
    '😀'.repeat(60),
    '__proto__',
    'constructor',
  ],
  ...['2026-01-01T00:00:00Z', 'queued', 'API', 'scripted/playbook'],
]
const evil_numbers = [-1, 0, 1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 60), 1e300, 1e-9, 100, 101]
const words = fc.oneof(
  fc.constantFrom(...evil_words, '\ud800', '\udfff\ud800'),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

/** Any JSON value. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  words,
  fc.constantFrom<unknown>(...evil_numbers, null, true, false),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(words, { maxLength: 3 }),
)

/** Existing values, by the name of the field: invented ones would only be not found. */
export type KnownValues = Record<string, readonly unknown[]>

const described = ['description', 'examples', 'default', 'deprecated', 'title']
const understood = [
  ...[
    '$ref',
    'type',
    'const',
    'enum',
    'anyOf',
    'format',
    'pattern',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'items',
    'minItems',
  ],
  ...['maxItems', 'properties', 'required', 'additionalProperties', 'propertyNames', 'maxProperties'],
]

/** Values that the document allows for a field of this name, its limits and hostile texts included. */
export function allowed(given: Schema, known: KnownValues, name = ''): fc.Arbitrary<unknown> {
  const schema = followed(given)
  const strange = Object.keys(schema).filter(key => !described.includes(key) && !understood.includes(key))
  if (strange.length > 0)
    throw new Error(
      `teach test/api/contract/schema-values.ts what values ${strange} of ${JSON.stringify(given)} allows`,
    )
  const created = valuesOf(schema, known)
  const there = known[name]
  return there === undefined
    ? created
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...there) }, { weight: 1, arbitrary: created })
}

function valuesOf(schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(one => allowed(one, known)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map(type => valuesOf({ ...schema, type }, known)))
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum))
    case 'number':
      return fc.oneof(
        fc.double({ min: minimum, max: maximum, noNaN: true }),
        fc.constantFrom(minimum, maximum),
      )
    case 'string':
      return texts(schema)
    case 'array':
      return fc.array(allowed(schema.items ?? {}, known), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      })
    case 'object':
      return objects(schema, known)
    case undefined:
      return fc.jsonValue({ maxDepth: 3 })
    default:
      throw new Error(`teach test/api/contract/schema-values.ts the type ${schema.type}`)
  }
}

function texts({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  const fits = (text: string) => {
    const characters = [...text].length
    return (
      characters >= minLength &&
      characters <= maxLength &&
      (pattern === undefined || new RegExp(pattern, 'u').test(text))
    )
  }
  const date = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  if (format === 'date-time') return date.map(time => time.toISOString())
  if (format === 'uri')
    return fc
      .oneof(fc.webUrl(), fc.constantFrom('http://127.0.0.1/', 'https://[::1]/x', 'https://example.org/'))
      .filter(fits)
  if (format === 'date') return date.map(time => time.toISOString().slice(0, 10))
  if (format === 'email') return fc.emailAddress().filter(fits)
  if (format === 'uuid') return fc.uuid()
  if (format !== undefined) throw new Error(`teach test/api/contract/schema-values.ts the format ${format}`)
  if (pattern !== undefined && pattern !== '\\S')
    return fc.stringMatching(new RegExp(pattern, 'u')).filter(fits)
  const short = fc
    .string({ unit: 'binary', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 30)) })
    .filter(fits)
  const hostile = evil_words.filter(fits)
  return fc.oneof(
    { weight: 5, arbitrary: short },
    ...(hostile.length > 0 ? [{ weight: 4, arbitrary: fc.constantFrom(...hostile) }] : []),
    {
      weight: 1,
      arbitrary: fc.constantFrom('x'.repeat(Math.max(minLength, 1)), '😀'.repeat(maxLength)).filter(fits),
    },
  )
}

function objects(
  { properties = {}, required = [], additionalProperties, propertyNames, maxProperties = 3 }: Schema,
  known: KnownValues,
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, allowed(one, known, name)]),
  )
  const named = fc.record(fields, { requiredKeys: required, noNullPrototype: true })
  // Unknown keys are ignored where they are not the values of a map.
  if (additionalProperties === false) return named
  const value = additionalProperties === undefined ? anything : allowed(additionalProperties, known)
  const names =
    propertyNames === undefined
      ? fc.string({ unit: 'binary', maxLength: 10 })
      : (allowed(propertyNames, known) as fc.Arbitrary<string>)
  const others = fc.dictionary(names, value, { maxKeys: Math.min(maxProperties, 3), noNullPrototype: true })
  const unknown =
    additionalProperties === undefined ? fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, others) : others
  return fc.tuple(unknown, named).map(([more, own]) => ({ ...more, ...own }))
}

/**
 * Values of which many are not allowed at this location: of another kind, beyond a limit, or with something
 * missing or wrong within.
 */
export function spoiled(given: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  const schema = followed(given)
  const {
    anyOf,
    properties = {},
    required = [],
    items,
    minimum,
    maximum,
    minLength = 0,
    maxLength,
    maxItems,
  } = schema
  const limits: unknown[] = [
    ...(minimum === undefined ? [] : [minimum - 1, minimum + 0.5]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === 0 ? [] : ['', ' '.repeat(minLength)]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)]),
    ...(maxItems === undefined || items === undefined ? [] : [Array(maxItems + 1).fill('x')]),
  ]
  const within = Object.entries(properties).map(([name, one]) =>
    fc
      .tuple(allowed(schema, known), spoiled(one, known))
      .map(([whole, bad]) => ({ ...(whole as object), [name]: bad })),
  )
  const missing = required.map(name =>
    allowed(schema, known).map(whole =>
      Object.fromEntries(Object.entries(whole as object).filter(([key]) => key !== name)),
    ),
  )
  return fc.oneof(
    anything,
    ...(limits.length > 0 ? [fc.constantFrom(...limits)] : []),
    ...(anyOf ?? []).map(one => spoiled(one, known)),
    ...(items ? [fc.array(spoiled(items, known), { minLength: 1, maxLength: 2 })] : []),
    ...[...within, ...missing].map(arbitrary => ({ weight: 3, arbitrary })),
  )
}
