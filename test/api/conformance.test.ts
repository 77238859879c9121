import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Endpoint } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../src/contract/endpoints.ts'
import { problemStatuses } from '../../src/contract/problem-statuses.ts'
import { createRun } from '../runs/await-run.ts'
import { type Answer, type App, startApp } from '../start-app.ts'
import { contents } from './contents.ts'
import { type Call, tokenCalls } from './every-endpoint.ts'
import { expectProblem } from './expect-problem.ts'
import { addArtifact, addPullRequest } from './second-organization.ts'

let app: App
let calls: Map<string, Call>
let run_id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  run_id = (await createRun(app, { prompt: 'x', title: 'x', tags: ['a'] })).id
  const pr_id = await addPullRequest(app.db, { organization_id: app.org_id, repository_id: app.repo_id, run_id }, 'x')
  const artifact_id = await addArtifact(app.db, { organization_id: app.org_id, run_id }, 'x')
  const ids = { org_id: app.org_id, run_id, repo_id: app.repo_id, user_id: app.user_id, pr_id, artifact_id }
  calls = new Map(tokenCalls(ids).map(call => [call.name, call]))
})
afterAll(() => app[Symbol.asyncDispose]())

const evil = fc.constantFrom(
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
    '\ud800',
    '\udfff\ud800',
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
    '2026-01-01T00:00:00Z',
    'queued',
    'API',
    'scripted/playbook',
  ],
)
const words = fc.oneof(evil, fc.string({ unit: 'binary', maxLength: 30 }), fc.string({ maxLength: 5 }))
const numbers = fc.constantFrom(-1, 0, 1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 60), 1e300, 1e-9, 100, 101)
const values: fc.Arbitrary<unknown> = fc.oneof(
  words,
  numbers,
  fc.constantFrom(null, true, false),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(words, { maxLength: 3 }),
)

function expectConform(name: string, answer: Answer) {
  const endpoint: Endpoint = endpoints[name as EndpointName]
  expect([200, ...problemStatuses(endpoint)]).toContain(answer.status)
  expect(answer.status).toBeLessThan(500)
  if (answer.status !== 200) return void expectProblem(answer, answer.status)
  const { response } = endpoint
  if (typeof response !== 'string' && answer.headers.get('content-type')?.startsWith('application/json')) response.parse(answer.body)
}

describe('whatever is sent, the answer is one that the contract knows, never a 5xx', () => {
  const queries = Object.entries(endpoints).filter(
    ([name, { method, query }]) => method === 'GET' && Object.keys(query.shape).length > 0 && !name.startsWith('stream'),
  )
  test.each(queries.map(([name]) => name))('in the query of %s', async name => {
    const { path } = calls.get(name) as Call
    const keys = fc.constantFrom(...Object.keys(endpoints[name as EndpointName].query.shape), 'unknown')
    const pairs = fc.array(
      fc.tuple(
        keys,
        fc.oneof(words, numbers.map(String)).map(text => text.toWellFormed()),
      ),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(pairs, async given => {
        const query = given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')
        expectConform(name, await app.call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`))
      }),
      { numRuns: 60 },
    )
  })

  const bodies = [
    ...(['addMember', 'createServiceUser', 'createToken'] as const),
    ...(['createAgentRun', 'updateAgentRun', 'resumeAgentRun', 'resumeAgentRunById', 'stopAgentRun', 'archiveAgentRun'] as const),
    ...(['mergePullRequest', 'editPullRequest'] as const),
  ]
  test.each(bodies)('in the body of %s', async name => {
    const { method, path, body } = calls.get(name) as Call
    const given = endpoints[name].body
    const schema = (given instanceof z.ZodPipe ? given.in : given instanceof z.ZodDefault ? given.unwrap() : given) as z.ZodObject
    const changes = fc.dictionary(fc.constantFrom(...Object.keys(schema.shape), 'unknown', 'id', 'status', '__proto__'), values, {
      maxKeys: 3,
      noNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 6, arbitrary: changes.map(change => ({ ...body, ...change })) }, { weight: 1, arbitrary: values }),
        async given => {
          expectConform(name, await app.call(method, path, given))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('as bytes', async () => {
    const { path } = calls.get('createAgentRun') as Call
    const good = Buffer.from('{"prompt":"x","tags":["a"],"metadata":{"a":[1,2]}}')
    const broken = fc
      .tuple(fc.nat(good.length - 1), fc.uint8Array({ maxLength: 4 }), fc.nat(3))
      .map(([at, bytes, gone]) => Buffer.concat([good.subarray(0, at), bytes, good.subarray(at + gone)]))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          broken,
          fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
        ),
        async bytes => {
          const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' }
          const response = await fetch(app.base_url + path, { method: 'POST', headers, body: bytes })
          expectConform('createAgentRun', { status: response.status, headers: response.headers, body: await response.json() })
        },
      ),
      { numRuns: 150 },
    )
  })
})

test('what the schema of a create allows is taken, and comes back as it was sent', async () => {
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
        { max_steps: fc.integer({ min: 1, max: 100_000 }), max_wall_seconds: fc.integer({ min: 1, max: 604_800 }) },
        { requiredKeys: [] },
      ),
      auto_create_pr: fc.boolean(),
      repo_id: fc.constantFrom(null, 1),
    },
    { requiredKeys: ['prompt'] },
  )
  const { path } = calls.get('createAgentRun') as Call
  await fc.assert(
    fc.asyncProperty(good, async given => {
      const { status, body } = await app.call('POST', path, given)
      expect({ status, body }).toMatchObject({ status: 200 })
      expect(body.prompt).toBe(given.prompt.trim())
      if (given.title !== undefined) expect(body.title).toBe(given.title.trim())
      if (given.tags !== undefined) expect(body.tags).toEqual(given.tags)
      expect(JSON.stringify(body.metadata)).toBe(JSON.stringify(given.metadata ?? null))
    }),
    { numRuns: 60 },
  )
})

test('a refused request has changed nothing', async () => {
  const before = await contents(app)
  for (const [name, call] of calls) {
    if (!call.body) continue
    await fc.assert(
      fc.asyncProperty(values, async value => {
        const key = Object.keys(call.body ?? {})[0] ?? ''
        const answer = await app.call(call.method, call.path, { ...call.body, [key]: [value], agent_run_id: [] })
        if (answer.status !== 400) throw new Error(`${name} took ${JSON.stringify(value)}`)
      }),
      { numRuns: 15 },
    )
  }
  expect(await contents(app)).toEqual(before)
})
