import { isDeepStrictEqual } from 'node:util'

export type Schema = { [keyword: string]: unknown }
/**
 * `request`: everything that was taken must still be taken. `answer`: everything that is answered must be
 * what was promised.
 */
export type Direction = 'request' | 'answer'
export type Side = { schema: Schema | undefined; root: Schema }

const object = (value: unknown): Schema =>
  typeof value === 'object' && value !== null ? (value as Schema) : {}
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** What a reference leads to, in the same document. */
export function resolve({ schema = {}, root }: Side): Schema {
  if (typeof schema.$ref !== 'string') return schema
  const target = schema.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => object(at)[key.replaceAll('~1', '/').replaceAll('~0', '~')], root)
  return resolve({ schema: object(target), root })
}

/** A schema as alternatives of one type each; `any` where it names none. */
function alternatives(side: Side): { type: string; schema: Schema }[] {
  const schema = resolve(side)
  const union = [...list(schema.anyOf), ...list(schema.oneOf)]
  if (union.length > 0) return union.flatMap(one => alternatives({ schema: object(one), root: side.root }))
  const named =
    schema.type ?? ('const' in schema ? (schema.const === null ? 'null' : typeof schema.const) : 'any')
  // Beside other types null is null, whatever their keywords are.
  return [named].flat().map(type => ({ type: String(type), schema: type === 'null' ? {} : schema }))
}

// Keywords that have no effect on what is allowed, and those that are compared one by one.
const words = ['description', 'title', 'examples', 'example', 'deprecated', '$ref', '$schema', 'id']
const compared = [
  'type',
  'anyOf',
  'oneOf',
  'const',
  'enum',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'default',
]
const lower = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const upper = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
const understood = new Set([...words, ...compared, ...lower, ...upper])

const fits = (wide: string, narrow: string) =>
  wide === narrow || wide === 'any' || (wide === 'number' && narrow === 'integer')

/**
 * Names what breaks a client between two schemas, one line each. `seen` ends the recursion of schemas that
 * hold themselves.
 */
export function schemaChanges(
  where: string,
  before: Side,
  after: Side,
  direction: Direction,
  seen: string[] = [],
): string[] {
  const pair = JSON.stringify([before.schema?.$ref, after.schema?.$ref])
  if (before.schema?.$ref !== undefined && seen.includes(pair)) return []
  const was = alternatives(before)
  const is = alternatives(after)
  // Each of these must have a counterpart that allows at least as much.
  const [narrow, wide] = direction === 'request' ? [was, is] : [is, was]
  return narrow.flatMap(one => {
    const counterparts = wide.filter(other => fits(other.type, one.type))
    if (counterparts.length === 0) {
      const types = (side: typeof was) => [...new Set(side.map(({ type }) => type))].join(' or ')
      return [
        one.type === 'null' && direction === 'answer'
          ? `${where} may be null now`
          : `${where} was ${types(was)} and is ${types(is)} now`,
      ]
    }
    const outcomes = counterparts.map(other => {
      const [old, now] = direction === 'request' ? [one.schema, other.schema] : [other.schema, one.schema]
      return compare(
        where,
        { schema: old, root: before.root },
        { schema: now, root: after.root },
        direction,
        [...seen, pair],
      )
    })
    return outcomes.find(outcome => outcome.length === 0) ?? outcomes[0] ?? []
  })
}

type Sides = { schema: Schema; root: Schema }

function compare(where: string, before: Sides, after: Sides, direction: Direction, seen: string[]): string[] {
  return [
    ...values(where, before.schema, after.schema, direction),
    ...(direction === 'request' ? bounds(where, before.schema, after.schema) : []),
    ...others(where, before.schema, after.schema, direction),
    ...properties(where, before, after, direction, seen),
    ...(['items', 'additionalProperties'] as const).flatMap(keyword => {
      const [old, now] = [before.schema[keyword], after.schema[keyword]]
      if (direction === 'request' && keyword === 'additionalProperties' && now === false && old !== false)
        return [`${where} takes no other keys now`]
      if (typeof old !== 'object' || typeof now !== 'object') return []
      const [inside, same] = [
        { schema: object(old), root: before.root },
        { schema: object(now), root: after.root },
      ]
      return schemaChanges(`${where}[]`, inside, same, direction, seen)
    }),
  ]
}

const valuesOf = (schema: Schema) =>
  'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : null

function values(where: string, before: Schema, after: Schema, direction: Direction): string[] {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  if (direction === 'answer') {
    if (old !== null && now === null) return [`${where} is no longer one of a list of values`]
    return old?.length && !old.some(value => now?.includes(value))
      ? [`${where} has none of its values left`]
      : []
  }
  if (now === null) return []
  if (old === null) return [`${where} takes only some values now`]
  return old
    .filter(value => !now.includes(value))
    .map(value => `${where} no longer takes ${JSON.stringify(value)}`)
}

function bounds(where: string, before: Schema, after: Schema): string[] {
  const [old, now] = [
    before as Record<string, number | undefined>,
    after as Record<string, number | undefined>,
  ]
  const tighter = [
    ...lower.filter(
      name => (now[name] ?? Number.NEGATIVE_INFINITY) > (old[name] ?? Number.NEGATIVE_INFINITY),
    ),
    ...upper.filter(
      name => (now[name] ?? Number.POSITIVE_INFINITY) < (old[name] ?? Number.POSITIVE_INFINITY),
    ),
  ]
  const changed = 'default' in before && !isDeepStrictEqual(old.default, now.default) ? ['default'] : []
  return [...tighter, ...changed].map(
    name => `${where}: ${name} was ${old[name] ?? 'not given'} and is ${now[name] ?? 'not given'} now`,
  )
}

/**
 * Keywords such as `pattern` and `format`: whether another value allows more or less is unknown, so every
 * change counts.
 */
function others(where: string, before: Schema, after: Schema, direction: Direction): string[] {
  const [promise, fulfilment] = direction === 'request' ? [after, before] : [before, after]
  return Object.keys(promise)
    .filter(
      name =>
        !understood.has(name) &&
        !name.startsWith('x-') &&
        !isDeepStrictEqual(promise[name], fulfilment[name]),
    )
    .map(name => `${where}: ${name} has changed`)
}

function properties(
  where: string,
  before: Sides,
  after: Sides,
  direction: Direction,
  seen: string[],
): string[] {
  const [old, now] = [object(before.schema.properties), object(after.schema.properties)]
  const [needed, needs] = [list(before.schema.required), list(after.schema.required)]
  const required =
    direction === 'request'
      ? needs.filter(name => !needed.includes(name)).map(name => `${where}.${name} is required now`)
      : []
  return [
    ...required,
    ...Object.keys(old).flatMap(name => {
      const at = `${where}.${name}`
      if (!(name in now)) return [direction === 'request' ? `${at} is no longer taken` : `${at} is gone`]
      const absent =
        direction === 'answer' && needed.includes(name) && !needs.includes(name)
          ? [`${at} may be absent now`]
          : []
      const [one, other] = [
        { schema: object(old[name]), root: before.root },
        { schema: object(now[name]), root: after.root },
      ]
      return [...absent, ...schemaChanges(at, one, other, direction, seen)]
    }),
  ]
}
