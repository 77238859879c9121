import { expect, test } from 'vitest'
import { openApiDocument } from '../../../src/contract/openapi.ts'
import type { ApiDocument, Schema } from '../api/api-document.ts'
import { fieldsOf, objectIn, parameterField, resolve, typeOf } from './fields.ts'

const document = JSON.parse(
  JSON.stringify(openApiDocument({ base_url: 'http://service.test', version: '1' })),
) as ApiDocument
const fields = (name: string) =>
  Object.fromEntries(fieldsOf(document, resolve(document, ref(name))).map(field => [field.name, field]))
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

test.each<[Schema, string]>([
  [{ type: 'integer' }, 'integer'],
  [{ type: ['string', 'null'] }, 'string or null'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
  [{ anyOf: [ref('Budget'), { type: 'null' }] }, 'Budget or null'],
  [ref('RunStatus'), 'string'],
  [{ type: 'array', items: ref('RunPullRequest') }, 'array of RunPullRequest'],
  [{ type: 'object', additionalProperties: {} }, 'object'],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, 'object of integer'],
  [{ const: 'ok' }, 'string'],
  [{}, 'anything'],
])('%j is %s', (schema, words) => {
  expect(typeOf(document, schema)).toBe(words)
})

test('fields show what is required, allowed, deprecated, and their nested fields', () => {
  const { prompt, budget, images } = fields('CreateAgentRunInput')
  expect(prompt).toMatchObject({
    type: 'string',
    required: true,
    facts: ['1 to 200,000 characters'],
    inside: null,
  })
  expect(images).toMatchObject({ required: false, facts: ['at most 10 items'] })
  expect(fieldsOf(document, budget?.inside ?? {}).map(field => field.name)).toContain('max_cost_usd')

  const { status, created_at, github_pull_requests, terminal } = fields('AgentRun')
  expect(status).toMatchObject({
    values: expect.arrayContaining(['queued', 'completed']),
    description: expect.stringMatching(/\w/),
  })
  expect(created_at?.facts).toEqual(['date-time'])
  expect(terminal).toMatchObject({ facts: [], values: [], inside: null })
  expect(fieldsOf(document, github_pull_requests?.inside ?? {}).map(field => field.name)).toContain(
    'head_sha',
  )
  expect(fields('UserResponse').is_admin?.deprecated).toBe(true)
  expect(fields('Health').status?.facts).toEqual(['always "ok"'])
})

test('a parameter is a field, with its default; the bounds of an id are not shown', () => {
  const logs = document.paths['/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs']?.get
  const parameters = Object.fromEntries(
    (logs?.parameters ?? []).map(one => [one.name, parameterField(document, one)]),
  )
  expect(parameters.limit).toMatchObject({
    required: false,
    facts: ['1 to 100', 'default 100'],
    description: 'Max number of logs returned',
  })
  expect(parameters.org_id).toMatchObject({ required: true, facts: [] })
  expect(parameters.message_type?.values).toContain('ACTION')
})

test('a schema that contains itself ends', () => {
  const loop: Schema = { type: 'object', properties: {} }
  const own = {
    ...document,
    components: { schemas: { Loop: loop, List: { type: 'array', items: ref('Loop') } } },
  }
  Object.assign(loop, { properties: { below: { type: 'array', items: ref('Loop') } } })
  expect(objectIn(own, ref('List'))).toBe(loop)
  expect(fieldsOf(own, loop)[0]).toMatchObject({ type: 'array of Loop', inside: loop })
})
