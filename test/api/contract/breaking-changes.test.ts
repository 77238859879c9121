import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { breakingChanges, type Document } from '../../../scripts/breaking-changes.ts'
import { documentText, RELEASED_FILE } from '../../../scripts/write-openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: each case reaches into the document where it wants to
type Loose = any

/** A small document with one element of each kind. */
const small = () => ({
  paths: {
    '/v1/things': {
      post: {
        operationId: 'createThing',
        'x-stability': 'stable',
        'x-scope': 'things:write',
        security: [{ bearer: [] }],
        parameters: [
          { name: 'dry', in: 'query', required: false, schema: { type: 'boolean' } },
          {
            name: 'limit',
            in: 'query',
            required: false,
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
          },
          { name: 'kind', in: 'query', required: false, schema: { $ref: '#/components/schemas/Kind' } },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Input' } } },
        },
        responses: {
          200: {
            headers: { 'X-Request-Id': {} },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Thing' } },
              'text/x-patch': { schema: { type: 'string' } },
            },
          },
          404: { $ref: '#/components/responses/Problem404' },
        },
      },
    },
    '/v1/beta/things': { post: { operationId: 'createThing_alias_1', 'x-alias-of': '/v1/things' } },
  },
  components: {
    schemas: {
      Kind: { type: 'string', enum: ['small', 'large'] },
      Input: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 10 },
          note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          price: { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^\\d+$' }] },
          tags: { type: 'array', maxItems: 5, items: { type: 'string' } },
        },
      },
      Thing: {
        type: 'object',
        required: ['id', 'kind'],
        properties: {
          id: { type: 'integer' },
          kind: { $ref: '#/components/schemas/Kind' },
          title: { type: ['string', 'null'] },
          at: { type: 'string', format: 'date-time' },
          done: { type: 'boolean', const: true },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
          extra: { type: 'object', additionalProperties: { type: 'integer' } },
        },
      },
    },
  },
})
type Small = ReturnType<typeof small>

/** What breaks when the small document is changed so. */
function after(
  change: (parts: { document: Loose; operation: Loose; input: Loose; thing: Loose; schemas: Loose }) => void,
): string[] {
  const document = small() as Loose
  const { schemas } = document.components
  change({
    document,
    operation: document.paths['/v1/things'].post,
    input: schemas.Input,
    thing: schemas.Thing.properties,
    schemas,
  })
  return breakingChanges(small() satisfies Small as unknown as Document, document)
}

const name = 'POST /v1/things'
type Case = [what: string, change: Parameters<typeof after>[0], ...messages: string[]]

const breaks: Case[] = [
  ['a path that is gone', ({ document }) => delete document.paths['/v1/things'], `${name} is gone`],
  ['a method that is gone', ({ document }) => delete document.paths['/v1/things'].post, `${name} is gone`],
  [
    'a lost alias',
    ({ document }) => delete document.paths['/v1/beta/things'],
    'POST /v1/beta/things is gone, the alias of /v1/things',
  ],
  [
    'another operationId',
    ({ operation }) => Object.assign(operation, { operationId: 'x' }),
    `${name}: operationId was createThing and is x now`,
  ],
  [
    'stable to alpha',
    ({ operation }) => Object.assign(operation, { 'x-stability': 'alpha' }),
    `${name} was stable and is alpha now`,
  ],
  [
    'another scope',
    ({ operation }) => Object.assign(operation, { 'x-scope': 'a' }),
    `${name} needs the scope a now`,
  ],
  [
    'other credentials',
    ({ operation }) => Object.assign(operation, { security: [{ x: [] }] }),
    `${name} wants other credentials now`,
  ],
  [
    'a parameter that is gone',
    ({ operation }) => operation.parameters.shift(),
    `${name}: query parameter dry is gone`,
  ],
  [
    'a new required parameter',
    ({ operation }) => operation.parameters.push({ name: 'n', in: 'header', required: true }),
    `${name}: header parameter n is required now`,
  ],
  [
    'a parameter that became required',
    ({ operation }) => Object.assign(operation.parameters[0], { required: true }),
    `${name}: query parameter dry is required now`,
  ],
  [
    'a narrower bound of a parameter',
    ({ operation }) => Object.assign(operation.parameters[1].schema, { maximum: 50 }),
    `${name}: query parameter limit: maximum was 100 and is 50 now`,
  ],
  [
    'another default',
    ({ operation }) => Object.assign(operation.parameters[1].schema, { default: 20 }),
    `${name}: query parameter limit: default was 100 and is 20 now`,
  ],
  [
    'a value that a request may no longer have',
    ({ schemas }) => schemas.Kind.enum.pop(),
    `${name}: query parameter kind no longer takes "large"`,
  ],
  [
    'a query parameter that takes several of other values',
    ({ operation }) =>
      Object.assign(operation.parameters[1], { schema: { type: 'array', items: { type: 'boolean' } } }),
    `${name}: query parameter limit was integer and is boolean now`,
  ],
  [
    'a new required property',
    ({ input }) => input.required.push('tags'),
    `${name}: body.tags is required now`,
  ],
  [
    'a property that is no longer taken',
    ({ input }) => delete input.properties.note,
    `${name}: body.note is no longer taken`,
  ],
  [
    'a request that must be longer',
    ({ input }) => Object.assign(input.properties.name, { minLength: 2 }),
    `${name}: body.name: minLength was 1 and is 2 now`,
  ],
  [
    'a new bound',
    ({ input }) => Object.assign(input.properties.note.anyOf[0], { maxLength: 9 }),
    `${name}: body.note: maxLength was not given and is 9 now`,
  ],
  [
    'fewer items',
    ({ input }) => Object.assign(input.properties.tags, { maxItems: 4 }),
    `${name}: body.tags: maxItems was 5 and is 4 now`,
  ],
  [
    'a request that may not be null',
    ({ input }) => input.properties.note.anyOf.pop(),
    `${name}: body.note was string or null and is string now`,
  ],
  [
    'a type less',
    ({ input }) => input.properties.price.anyOf.shift(),
    `${name}: body.price was number or string and is string now`,
  ],
  [
    'a pattern',
    ({ input }) => Object.assign(input.properties.name, { pattern: 'x' }),
    `${name}: body.name: pattern has changed`,
  ],
  [
    'another pattern',
    ({ input }) => Object.assign(input.properties.price.anyOf[1], { pattern: 'x' }),
    `${name}: body.price: pattern has changed`,
  ],
  [
    'some values only',
    ({ input }) => Object.assign(input.properties.name, { enum: ['a'] }),
    `${name}: body.name takes only some values now`,
  ],
  [
    'items of another type',
    ({ input }) => Object.assign(input.properties.tags.items, { type: 'integer' }),
    `${name}: body.tags[] was string and is integer now`,
  ],
  [
    'no other keys',
    ({ input }) => Object.assign(input, { additionalProperties: false }),
    `${name}: body takes no other keys now`,
  ],
  [
    'another type of body',
    ({ operation }) => Object.assign(operation.requestBody, { content: { 'text/plain': {} } }),
    `${name} no longer takes application/json`,
  ],
  ['an answer without a property', ({ thing }) => delete thing.title, `${name}: answer.title is gone`],
  [
    'an answer without one, deeper',
    ({ schemas }) => delete schemas.Thing.properties.at,
    `${name}: answer.at is gone`,
  ],
  [
    'a property of another type',
    ({ thing }) => Object.assign(thing.id, { type: 'string' }),
    `${name}: answer.id was integer and is string now`,
  ],
  [
    'an integer that may be any number',
    ({ thing }) => Object.assign(thing.id, { type: 'number' }),
    `${name}: answer.id was integer and is number now`,
  ],
  [
    'a property that may be null',
    ({ thing }) => Object.assign(thing.id, { type: ['integer', 'null'] }),
    `${name}: answer.id may be null now`,
  ],
  [
    'a property that may be absent',
    ({ schemas }) => schemas.Thing.required.shift(),
    `${name}: answer.id may be absent now`,
  ],
  [
    'a property that may be anything',
    ({ thing }) => delete thing.id.type,
    `${name}: answer.id was integer and is any now`,
  ],
  [
    'another format',
    ({ thing }) => Object.assign(thing.at, { format: 'date' }),
    `${name}: answer.at: format has changed`,
  ],
  [
    'another constant',
    ({ thing }) => Object.assign(thing.done, { const: false }),
    `${name}: answer.done has none of its values left`,
  ],
  [
    'an open list of values',
    ({ thing }) => Object.assign(thing, { kind: { type: 'string' } }),
    `${name}: answer.kind is no longer one of a list of values`,
  ],
  [
    'values of a map',
    ({ thing }) => Object.assign(thing.extra.additionalProperties, { type: 'string' }),
    `${name}: answer.extra[] was integer and is string now`,
  ],
  [
    'a type of answer less',
    ({ operation }) => delete operation.responses[200].content['text/x-patch'],
    `${name} no longer responds with text/x-patch`,
  ],
  [
    'a header less',
    ({ operation }) => delete operation.responses[200].headers['X-Request-Id'],
    `${name}: the header X-Request-Id is gone`,
  ],
  ['no success', ({ operation }) => delete operation.responses[200], `${name} no longer responds with 200`],
]
test.each(breaks)('%s breaks clients', (_what, change, ...messages) => {
  expect(after(change)).toEqual(messages)
})

const harmless: Case[] = [
  ['nothing', () => {}],
  [
    'a new path',
    ({ document }) => Object.assign(document.paths, { '/v1/more': { get: { operationId: 'more' } } }),
  ],
  [
    'an optional parameter',
    ({ operation }) => operation.parameters.push({ name: 'n', in: 'query', required: false }),
  ],
  [
    'a query parameter that takes several of its values',
    ({ operation }) => {
      const { schema } = operation.parameters[2]
      operation.parameters[2].schema = { type: 'array', minItems: 1, items: schema }
    },
  ],
  [
    'an optional property of a request',
    ({ input }) => Object.assign(input.properties, { more: { type: 'string' } }),
  ],
  ['a request property that is optional now', ({ input }) => Object.assign(input, { required: [] })],
  ['wider bounds', ({ input }) => Object.assign(input.properties.name, { minLength: 0, maxLength: 99 })],
  ['no bounds', ({ input }) => Object.assign(input.properties, { name: { type: 'string' } })],
  ['a value that a request may have, too', ({ schemas }) => schemas.Kind.enum.push('huge')],
  [
    'a request that may be null',
    ({ input }) => Object.assign(input.properties.name, { type: ['string', 'null'] }),
  ],
  ['a request of more types', ({ input }) => input.properties.price.anyOf.push({ type: 'null' })],
  ['a property of an answer', ({ thing }) => Object.assign(thing, { more: { type: 'string' } })],
  ['an answer that is never null', ({ thing }) => Object.assign(thing.title, { type: 'string' })],
  ['an answer that is always there', ({ schemas }) => schemas.Thing.required.push('title')],
  [
    'a number that is an integer',
    ({ thing }) => Object.assign(thing.extra, { additionalProperties: { type: 'integer', minimum: 0 } }),
  ],
  [
    'another way to write the same',
    ({ thing }) => Object.assign(thing, { title: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
  ],
  [
    'other words',
    ({ thing }) => Object.assign(thing.id, { description: 'x', examples: [1], deprecated: true }),
  ],
  ['another refusal', ({ operation }) => Object.assign(operation.responses, { 409: {} })],
  [
    'alpha to stable',
    ({ document }) => Object.assign(document.paths['/v1/beta/things'].post, { 'x-stability': 'stable' }),
  ],
  ['no scope', ({ operation }) => delete operation['x-scope']],
]
test.each(harmless)('%s breaks no client', (_what, change) => {
  expect(after(change)).toEqual([])
})

test('a value that responses no longer have breaks no client, one that requests may no longer have does', () => {
  const responded = after(({ schemas, operation }) => {
    operation.parameters.pop()
    schemas.Kind.enum.pop()
  })
  expect(responded).toEqual([`${name}: query parameter kind is gone`])
})

test('no valid client of the last release is broken: announce it in CHANGELOG.md, and let it land with a release', () => {
  const released = JSON.parse(readFileSync(RELEASED_FILE, 'utf8')) as Document
  expect(Object.keys(released.paths).length).toBeGreaterThan(20)
  expect(breakingChanges(released, JSON.parse(documentText()))).toEqual([])
})
