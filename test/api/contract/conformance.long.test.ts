import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { type ApiResponse, type App, startApp } from '../../start-app.ts'
import { contentsWithoutAttempts } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import {
  isAllowedBody,
  isAllowedParameter,
  mistakesOf,
  type Operation,
  operations,
  type Parameter,
} from './document.ts'
import { with_client } from './every-endpoint.ts'
import {
  bodySchema,
  type GeneratedRequest,
  good,
  isHeader,
  newTarget,
  parametersIn,
  parameterTexts,
  type Target,
  whole,
  withText,
} from './generated-requests.ts'
import { spoiled } from './schema-values.ts'
import { sendCall } from './send-call.ts'

/**
 * Requests generated from the OpenAPI document alone. They are the same in each run; `TEST_SEED=7` makes
 * others and `TEST_MORE=10` ten times as many, and a failure names its seed and path. On a slow machine fewer
 * are sent rather than that it takes longer.
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const more = Number(process.env.TEST_MORE ?? 1)
const total_ms = 80_000 * more

let app: App
beforeAll(async () => {
  app = await startApp({ ...with_client, AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
})
afterAll(() => app[Symbol.asyncDispose]())

const own_paths = operations.filter(({ operationId }) => operationId in endpoints)
const share_ms = total_ms / own_paths.length / 2

/** Checks as many requests as there is time for, and waits for all of them. */
async function checkEach<T>(
  requests: fc.Arbitrary<T>,
  numRuns: number,
  check: (given: T) => Promise<void>,
): Promise<void> {
  const end = performance.now() + share_ms
  const property = fc.asyncProperty(requests, async given => {
    if (performance.now() < end) await check(given)
  })
  await fc.assert(property, { seed, numRuns: numRuns * more })
}

function expectDocumented(operation: Operation, { status, headers, body }: ApiResponse): void {
  expect(Object.keys(operation.responses)).toContain(`${status}`)
  // The service runs no worker here.
  const { problems: own = [] } = endpoints[operation.operationId as EndpointName] as Endpoint
  const away = status === 503 && own.includes('unavailable')
  expect([status, away || status === 501 || status < 500]).toEqual([status, true])
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  if (status !== 200) expectProblem({ status, headers, body }, status)
  else expect(Object.keys(operation.responses[200]?.content ?? {})).toContain(type)
  if (/json$/.test(type)) expect(mistakesOf(operation, status, body)).toEqual([])
}

describe('a request that the document allows gets a described response, and a refusal changes nothing', () => {
  test.each(own_paths.map(operation => [operation.operationId, operation] as const))(
    '%s',
    async (_name, operation) => {
      const target = await newTarget(app, operation)
      let before = await contentsWithoutAttempts(app)
      await checkEach(good(operation, target), 30, async given => {
        const result = await sendCall(app, whole(operation, given), target.token)
        expectDocumented(operation, result)
        if (operation.method === 'GET') return
        const after = await contentsWithoutAttempts(app)
        if (result.status >= 400) expect(after).toEqual(before)
        before = after
      })
      if (operation.method === 'GET') expect(await contentsWithoutAttempts(app)).toEqual(before)
    },
  )
})

/**
 * Whether the text follows the document: a number in plain digits, `true` or `false`, or a text; of a list
 * one value, or several between commas.
 */
function isAllowedText(operation: Operation, parameter: Parameter, text: string): boolean {
  if (parameter.schema.type === 'array') {
    const isNumber = (part: string) => /^(0|[1-9]\d*)$/.test(part)
    const lists = [[text], text.split(',').filter(part => part !== '')]
    return lists.some(
      list =>
        isAllowedParameter(operation, parameter, list) ||
        (list.every(isNumber) && isAllowedParameter(operation, parameter, list.map(Number))),
    )
  }
  if (/^(0|[1-9]\d*)$/.test(text) && isAllowedParameter(operation, parameter, Number(text))) return true
  return (
    isAllowedParameter(operation, parameter, text) ||
    (/^(true|false)$/.test(text) && isAllowedParameter(operation, parameter, text === 'true'))
  )
}

/** A text that the router accepts as a segment of a path: not too long and not `..`. */
const isPathPart = (text: string) =>
  /^[^\0]{1,60}$/.test(text) && text.isWellFormed() && !/^\.\.?$/.test(text)

type Bad = GeneratedRequest & { wrong: string[] }
/** Requests with one error, and its location. */
function bad(operation: Operation, target: Target): fc.Arbitrary<Bad> | null {
  const schema = bodySchema(operation)
  const sendable = { path: isPathPart, query: () => true, header: isHeader }
  const ways = [
    ...(schema === undefined
      ? []
      : [
          fc
            .tuple(good(operation, target), spoiled(schema, target.known))
            .filter(([, body]) => !isAllowedBody(operation, body))
            .map(([given, body]): Bad => ({ ...given, body, wrong: ['body'] })),
        ]),
    ...operation.parameters.flatMap(parameter => {
      const isWrong = (text: string) =>
        sendable[parameter.in](text) && !isAllowedText(operation, parameter, text)
      const all = parameterTexts(parameter, target.known)
      // Some parameters accept every text.
      if (!fc.sample(all, { seed, numRuns: 200 }).some(isWrong)) return []
      return [
        fc.tuple(good(operation, target), all.filter(isWrong)).map(
          ([given, text]): Bad => ({
            ...withText(given, parameter, text),
            wrong: [parameter.in, parameter.name],
          }),
        ),
      ]
    }),
    ...parametersIn(operation, 'query')
      .filter(({ required }) => required)
      .map(({ name }) =>
        good(operation, target).map(
          (given): Bad => ({
            ...given,
            query: given.query.filter(([one]) => one !== name),
            wrong: ['query', name],
          }),
        ),
      ),
  ]
  return ways.length === 0 ? null : fc.oneof(...ways)
}

describe('a request that the document does not allow is a 400 with its location, and changes nothing', () => {
  test.each(own_paths.map(operation => [operation.operationId, operation] as const))(
    '%s',
    async (_name, operation) => {
      const target = await newTarget(app, operation)
      const requests = bad(operation, target)
      if (requests === null) return
      const before = await contentsWithoutAttempts(app)
      await checkEach(requests, 40, async ({ wrong, ...given }) => {
        const result = await sendCall(app, whole(operation, given), target.token)
        // A delivery is refused for its connection and its signature before its body is parsed.
        if (wrong[0] === 'body' && operation.path.startsWith('/hooks/'))
          return void expectProblem(result, 404)
        const problem = expectProblem(result, 400)
        expect(mistakesOf(operation, 400, result.body)).toEqual([])
        expect(problem.errors.map(({ loc }) => loc.slice(0, wrong.length))).toContainEqual(wrong)
      })
      expect(await contentsWithoutAttempts(app)).toEqual(before)
    },
  )
})

test('a body with invalid bytes gets a response that the document describes', async () => {
  const operation = own_paths.find(({ operationId }) => operationId === 'createAgentRun') as Operation
  const { call, token } = await newTarget(app, operation)
  const text = Buffer.from('{"prompt":"x","tags":["a"],"metadata":{"a":[1,2]}}')
  const broken = fc
    .tuple(fc.nat(text.length - 1), fc.uint8Array({ maxLength: 4 }), fc.nat(3))
    .map(([at, bytes, gone]) => Buffer.concat([text.subarray(0, at), bytes, text.subarray(at + gone)]))
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        broken,
        fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
      ),
      async body => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const response = await fetch(app.base_url + call?.path, { method: 'POST', headers, body })
        expectDocumented(operation, {
          status: response.status,
          headers: response.headers,
          body: await response.json(),
        })
      },
    ),
    { seed, numRuns: 150 },
  )
})

test('every create request that the schema allows is accepted, and returned as it was sent', async () => {
  const sound = (max: number) =>
    fc
      .string({ unit: 'binary', minLength: 1, maxLength: max })
      .filter(text => text.trim() !== '' && !text.includes('\0') && !text.includes('```'))
  const good = fc.record(
    {
      prompt: sound(50),
      title: sound(20),
      tags: fc.uniqueArray(
        sound(8).map(text => text.trim()),
        { maxLength: 5 },
      ),
      metadata: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
      budget: fc.record(
        {
          max_steps: fc.integer({ min: 1, max: 100_000 }),
          max_wall_seconds: fc.integer({ min: 1, max: 604_800 }),
        },
        { requiredKeys: [] },
      ),
      auto_create_pr: fc.boolean(),
      repo_id: fc.constantFrom(null, 1),
    },
    { requiredKeys: ['prompt'] },
  )
  const path = `/v1/organizations/${app.org_id}/agent/run`
  await fc.assert(
    fc.asyncProperty(good, async given => {
      const { status, body } = await app.call('POST', path, given)
      expect({ status, body }).toMatchObject({ status: 200 })
      expect(body.prompt).toBe(given.prompt.trim())
      if (given.title !== undefined) expect(body.title).toBe(given.title.trim())
      if (given.tags !== undefined) expect(body.tags).toEqual(given.tags)
      expect(JSON.stringify(body.metadata)).toBe(JSON.stringify(given.metadata ?? null))
    }),
    { seed, numRuns: 60 },
  )
})
