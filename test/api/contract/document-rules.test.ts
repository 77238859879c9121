import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { operations } from './document.ts'
import { allowed } from './schema-values.ts'

/**
 * Refusals of values that the document allows, because JSON Schema cannot express them in a way that
 * generated clients read.
 */
const undocumented = [
  // Which characters a text has; the introduction of the document states it for all texts.
  /^must not hold NUL or half a surrogate pair$/,
  // What one field requires of another; the descriptions of the fields state it.
  /^(needs|cannot be set with|is required with|is required beside|is required, because|is required, or) /,
  /^(give either a token or an app|is required and must be a string|must have names of their own|must begin with whsec_)/,
  // The document has the format e-mail, of which the contract accepts a part, and the number of characters of
  // a secret beside its bytes.
  /^must be an e-mail address$/,
  /^must have at most \d+ bytes as UTF-8$/,
  /^must not contain (a user name or a password|credentials)/,
  /^is a header that the connection determines$/,
  // Values that only responses of the service give, or that name files.
  /^must be the cursor of a `Link` header of this list$/,
  /^must be a path in the repository: /,
  // What git accepts as the name of a branch.
  /^must be the beginning of a valid branch name /,
  // Which tools there are, a list of its own states.
  /^must be one of shell, read, search$/,
  // The arguments of a tool depend on its name.
  /^Invalid input: expected string, received undefined$/,
]

/** The refusals by the contract of a hundred values that the document allows. */
function refusals(schema: z.ZodType, values: fc.Arbitrary<unknown>): string[] {
  const messages = fc.sample(values, { seed: 1, numRuns: 100 }).flatMap(value => {
    const { error } = schema.safeParse(value)
    return (error?.issues ?? []).flatMap(issue =>
      issue.code === 'invalid_key'
        ? issue.issues.map(({ message }) => ({ path: issue.path, message }))
        : [issue],
    )
  })
  const others = messages.filter(({ message }) => !undocumented.some(pattern => pattern.test(message)))
  return [
    ...new Set(
      others.map(
        ({ path, message }) =>
          `${path.map(part => (typeof part === 'number' ? '#' : `${String(part)}`)).join('.')}: ${message}`,
      ),
    ),
  ]
}

test('the contract accepts every body and parameter that the document allows', () => {
  const found = operations.flatMap(({ operationId, parameters, requestBody }) => {
    const row: Endpoint | undefined = endpoints[operationId as EndpointName]
    if (row === undefined) return []
    const schema = requestBody?.content['application/json'].schema
    const of_body = schema === undefined || row.body === null ? [] : refusals(row.body, allowed(schema, {}))
    const of_parameters = parameters.flatMap(({ name, in: location, schema: one }) => {
      const field = (location === 'query' ? row.query : row.params).shape[name] as z.ZodType | undefined
      if (location === 'header' || field === undefined) return []
      const texts = allowed(one, {}, name).map(value =>
        Array.isArray(value) ? value.map(String) : `${value}`,
      )
      return refusals(field, texts).map(refusal => `${name} ${refusal}`)
    })
    return [...of_body, ...of_parameters].map(refusal => `${operationId}: ${refusal}`)
  })
  expect(found).toEqual([])
})

test('a parameter without which the contract refuses a request is required in the document', () => {
  const wrong = operations.flatMap(({ operationId, parameters }) => {
    const row: Endpoint | undefined = endpoints[operationId as EndpointName]
    return parameters.flatMap(({ name, in: location, required }) => {
      const field = location === 'query' ? (row?.query.shape[name] as z.ZodType | undefined) : undefined
      return field === undefined || required !== field.safeParse(undefined).success
        ? []
        : [`${operationId} ${name}`]
    })
  })
  expect(wrong).toEqual([])
})
