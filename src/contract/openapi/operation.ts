import type { z } from 'zod'
import { bucketLimits, bucketOwner } from '../buckets.ts'
import { type Bucket, type Endpoint, pathsOf } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { bodyExample, mediaExamples, responseExample } from './examples.ts'
import { responsesOf } from './responses.ts'
import { hoist, type Json, jsonSchema } from './schemas.ts'

/** Parts of the document that operations refer to, by name. */
export type Components = { schemas: Json; examples: Json }

const parameters = (where: 'path' | 'query', schema: z.ZodObject, components: Components) =>
  Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = hoist(jsonSchema(field as z.ZodType, 'input'), components.schemas)
    const exploded = rest.type === 'array' && { style: 'form', explode: true }
    return {
      name,
      in: where,
      required: where === 'path' || !field.safeParse(undefined).success,
      ...exploded,
      schema: rest,
      ...(description !== undefined && { description }),
    }
  })

const idempotency_key = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name for this request, of your choice. A repetition within 24 hours with the same body returns the stored response, with another body 422.',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency_key_chars },
}
const last_event_id = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id:` of the last received event: the stream continues after it.',
  schema: { type: 'integer', minimum: 0, maximum: limits.page_skip },
}

function limitText(bucket: Bucket): string {
  const rateText = (name: keyof typeof bucketLimits) => {
    const { requests, seconds } = bucketLimits[name]
    return `${requests} requests in ${seconds} seconds for each ${bucketOwner[name]}`
  }
  if (bucket === 'logs')
    return `${rateText('standard')} (\`standard\`), and ${rateText('token_total')} over all operations`
  if (bucket === 'agent_creation')
    return `${rateText(bucket)} (\`${bucket}\`), and ${rateText('user_creation')} (\`user_creation\`)`
  return `${rateText(bucket)} (\`${bucket}\`)`
}

/** Returns the facts that follow from the row, as a list. */
function facts(endpoint: Endpoint, path: string): string[] {
  const { access, scope, bucket, stability, idempotent } = endpoint
  const key = scope === null ? 'any bearer token' : `a bearer token with the scope \`${scope}\``
  const others = pathsOf(endpoint).filter(other => other !== path)
  return [
    `Needs ${access === 'public' ? 'no token' : access === 'cookie' ? 'the sign-in cookie of the web interface' : key}.`,
    ...(bucket === null ? [] : [`Limit: ${limitText(bucket)}, unless the operator chose another.`]),
    ...(idempotent ? ['Safe to repeat with `Idempotency-Key`.'] : []),
    ...(stability === 'alpha' ? ['Alpha: it may change, announced at least 14 days ahead.'] : []),
    ...(others.length === 0 ? [] : [`Also served at ${others.map(other => `\`${other}\``).join(', ')}.`]),
  ]
}

function responseContent(endpoint: Endpoint, components: Components): Json {
  const { response, other_content_types = [] } = endpoint
  const example = responseExample(endpoint)
  const others = Object.fromEntries(other_content_types.map(type => [type, { schema: { type: 'string' } }]))
  if (response === 'stream')
    return {
      'text/event-stream': {
        schema: { type: 'string' },
        ...mediaExamples(null, example, components.examples),
      },
      ...others,
    }
  if (response === 'file')
    return {
      'text/plain': { schema: { type: 'string' }, ...mediaExamples(null, example, components.examples) },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      ...others,
    }
  if (response === 'document') return { 'application/json': { schema: { type: 'object' } }, ...others }
  const shape = hoist(jsonSchema(response, 'output'), components.schemas)
  const { examples } = mediaExamples(response, example, components.examples)
  return { 'application/json': { schema: shape, examples }, ...others }
}

/**
 * Returns one row of the table as an operation of the document, at one of its paths; adds what it refers to
 * to `components`.
 */
export function operation(name: string, endpoint: Endpoint, path: string, components: Components): Json {
  const { tag, summary, description, stability, scope, access, aliases = [], body } = endpoint
  const alias = aliases.indexOf(path) + 1
  const list = facts(endpoint, path).map(fact => `- ${fact}`)
  return {
    operationId: alias === 0 ? name : `${name}_alias_${alias}`,
    tags: [tag],
    summary,
    description: [...(description === undefined ? [] : [description, '']), ...list].join('\n'),
    'x-stability': stability,
    ...(scope !== null && { 'x-scope': scope }),
    ...(alias > 0 && { 'x-alias-of': endpoint.path }),
    security: access === 'token' ? [{ bearer: [] }] : access === 'cookie' ? [{ session: [] }] : [],
    parameters: [
      ...parameters('path', endpoint.params, components),
      ...parameters('query', endpoint.query, components),
      ...(endpoint.idempotent ? [idempotency_key] : []),
      ...(endpoint.response === 'stream' ? [last_event_id] : []),
    ],
    ...(body !== null && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: {
          'application/json': {
            schema: hoist(jsonSchema(body, 'input'), components.schemas),
            ...mediaExamples(body, bodyExample(endpoint), components.examples),
          },
        },
      },
    }),
    responses: responsesOf(endpoint, path, responseContent(endpoint, components)),
  }
}
