import fc from 'fast-check'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import type { App } from '../../start-app.ts'
import { addCaller } from '../access/add-caller.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import type { Operation, Parameter } from './document.ts'
import { type Call, filledPath, tokenCalls } from './every-endpoint.ts'
import { meanings } from './id-fields.ts'
import { allowed, type KnownValues, spoiled } from './schema-values.ts'

/** An organization for each operation, so that what one operation ends is there for the next. */
export type Target = { tenant: Tenant; known: KnownValues; call: Call | undefined; token: string | null }
let targets = 0
export async function newTarget(app: Pick<App, 'db'>, { operationId }: Operation): Promise<Target> {
  const tenant = await addTenant(app, `target-${++targets}`)
  const call = tokenCalls(tenant).find(({ name }) => name === operationId)
  const known = {
    ...Object.fromEntries(
      Object.entries(meanings).flatMap(([name, names]) => (names === null ? [] : [[name, [tenant[names]]]])),
    ),
    ...Object.fromEntries(Object.entries(call?.body ?? {}).map(([name, value]) => [name, [value]])),
    model: ['scripted/playbook'],
    default_model: ['scripted/playbook'],
    agent_type: ['built_in', 'codegen'],
    base_ref: [null],
    'Idempotency-Key': ['one', 'two'],
  }
  const wants_token = endpoints[operationId as EndpointName].access === 'token'
  return { tenant, known, call, token: wants_token ? await addCaller(app, [tenant.org_id], 'ADMIN') : null }
}

export type GeneratedRequest = {
  path: Record<string, unknown>
  query: [string, string][]
  headers: Record<string, string | undefined>
  body: unknown
}
export const whole = (operation: Operation, { path, query, headers, body }: GeneratedRequest) => {
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&')
  const filled = filledPath(
    operation.path,
    Object.fromEntries(
      Object.entries(path).map(([name, value]) => [name, encodeURIComponent(`${value}`.toWellFormed())]),
    ),
  )
  return {
    method: operation.method as Call['method'],
    path: text === '' ? filled : `${filled}?${text}`,
    headers,
    body,
  }
}

export const parametersIn = (operation: Operation, location: Parameter['in']) =>
  operation.parameters.filter(parameter => parameter.in === location)
export const bodySchema = (operation: Operation) => operation.requestBody?.content['application/json'].schema

/** A text that can be sent unchanged as the value of a header. */
export const isHeader = (text: string) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/**
 * Requests that the document allows, without deprecated parameters: what one changes in the response is
 * described in words only.
 */
export function good(operation: Operation, { known, tenant }: Target): fc.Arbitrary<GeneratedRequest> {
  const path = fc.record(
    Object.fromEntries(
      parametersIn(operation, 'path').map(({ name, schema }) => [name, allowed(schema, known, name)]),
    ),
  )
  const query = fc.record(
    Object.fromEntries(
      parametersIn(operation, 'query')
        .filter(({ schema }) => !schema.deprecated)
        .map(({ name, schema }) => [name, allowed(schema, known, name)]),
    ),
    {
      requiredKeys: parametersIn(operation, 'query')
        .filter(({ required }) => required)
        .map(({ name }) => name),
    },
  )
  const headers = fc.record(
    Object.fromEntries(
      parametersIn(operation, 'header').map(({ name, schema }) => [
        name,
        allowed(schema, known, name)
          .map(value => `${value}`)
          .filter(isHeader),
      ]),
    ),
    { requiredKeys: [] },
  )
  const schema = bodySchema(operation)
  return fc.record({
    headers,
    path: path.map(values => ({ ...values, ...('org_id' in values && { org_id: tenant.org_id }) })),
    // A list is one parameter for each value.
    query: query.map(values =>
      Object.entries(values).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, `${one}`]),
      ),
    ),
    body: schema === undefined ? fc.constant(undefined) : allowed(schema, known),
  })
}

/** Texts for a parameter: invalid spellings of numbers, other types, values beyond the limits. */
const texts = [
  '',
  ' ',
  '-1',
  '+1',
  '1e2',
  '0x10',
  '%2010',
  '1.0',
  '1_0',
  'NaN',
  '１',
  'null',
  'true',
  'True',
  'x',
  '\0',
  '9'.repeat(20),
]
export const parameterTexts = ({ schema }: Parameter, known: KnownValues) =>
  fc.oneof(
    fc.constantFrom(...texts),
    spoiled(schema, known).map(value => (typeof value === 'object' ? JSON.stringify(value) : `${value}`)),
  )

/** The same request with this text as the parameter. */
export function withText(
  given: GeneratedRequest,
  { in: target, name }: Parameter,
  text: string,
): GeneratedRequest {
  if (target === 'path') return { ...given, path: { ...given.path, [name]: text } }
  if (target === 'header') return { ...given, headers: { ...given.headers, [name]: text } }
  return { ...given, query: [...given.query.filter(([one]) => one !== name), [name, text]] }
}
