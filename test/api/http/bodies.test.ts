import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { type ApiResponse, type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { type Call, tokenCalls } from '../contract/every-endpoint.ts'
import { expectProblem } from '../expect-problem.ts'
import { sendRaw } from './raw-request.ts'

let app: App
let calls: Call[]
let create: string
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  calls = tokenCalls({
    org_id: app.org_id,
    run_id: id,
    repo_id: app.repo_id,
    user_id: app.user_id,
    pr_id: 1,
    artifact_id: 1,
  }).filter(call => call.body)
  create = `/v1/organizations/${app.org_id}/agent/run`
})
afterAll(() => app[Symbol.asyncDispose]())

const json = { 'content-type': 'application/json' }
async function post(
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = json,
  method = 'POST',
): Promise<ApiResponse> {
  const response = await fetch(app.base_url + path, {
    method,
    headers: { authorization: `Bearer ${app.token}`, ...headers },
    body: Buffer.from(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

describe('400', () => {
  const wrong: [string, string | Uint8Array][] = [
    ['not JSON', '{'],
    ['two values', '{} {}'],
    ['a trailing comma', '{"prompt":"x",}'],
    ['single quotes', "{'prompt':'x'}"],
    ['NaN', '{"prompt":"x","repo_id":NaN}'],
    ['a bare control character', '{"prompt":"a\nb"}'],
    ['a byte order mark', '\uFEFF{"prompt":"x"}'],
    ['UTF-16', Buffer.from('{"prompt":"x"}', 'utf16le')],
    ['a byte 0xff', Buffer.from([...Buffer.from('{"prompt":"'), 0xff, ...Buffer.from('"}')])],
    ['a cut character', Buffer.from([...Buffer.from('{"prompt":"'), 0xe2, 0x82, ...Buffer.from('"}')])],
    [
      'half a surrogate pair in UTF-8',
      Buffer.from([...Buffer.from('{"prompt":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    ],
    ['a bare NUL', '{"prompt":"a\0"}'],
    ['depth 65', `{"metadata":${'['.repeat(64)}${']'.repeat(64)},"prompt":"x"}`],
    ['depth 200,000', `{"prompt":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['depth 200,000 of objects', '{"a":'.repeat(200_000)],
    ['a key twice', '{"prompt":"x","repo_id":1,"repo_id":2}'],
    ['a key twice in another spelling', '{"prompt":"x","\\u0070rompt":"y"}'],
    ['a form', 'prompt=x'],
  ]
  test.each(wrong)(
    'F104 F105 F107 a body that is, or contains, %s, for every endpoint with a body',
    async (_, body) => {
      const before = await contents(app)
      for (const call of calls) expectProblem(await post(call.path, body, json, call.method), 400, 'body')
      expect(await contents(app)).toEqual(before)
    },
  )

  test.each([
    ['1e999', 'an infinity'],
    ['9007199254740993', 'beyond 2^53'],
    ['-9007199254740993', 'beyond -2^53'],
    ['99999999999999999999', '20 digits'],
    ['1.5', 'a fraction'],
    ['-1', 'negative'],
    ['"1"', 'a text'],
    ['[1]', 'a list'],
    ['{"$gt":0}', 'an object'],
    ['null', 'null'],
  ])('F103 an id of %s (%s) is refused by name', async value => {
    for (const call of calls.filter(item => item.body?.agent_run_id)) {
      const result = await post(call.path, `{"prompt":"x","agent_run_id":${value}}`, json, call.method)
      expectProblem(result, 400, 'body.agent_run_id')
    }
  })

  test('a number that a double cannot represent is not an object', async () => {
    const { path = '' } = calls.find(({ name }) => name === 'updateAgentRun') ?? {}
    expectProblem(await post(path, '9007199254740993', json, 'PATCH'), 400, 'body')
    for (const number of ['9007199254740993', '1e999'])
      expectProblem(await post(path, `{"budget":${number}}`, json, 'PATCH'), 400, 'body.budget')
    expectProblem(await post(create, '{"prompt":"x","metadata":9007199254740993}'), 400, 'body.metadata')
  })

  test("the parser's message is short, and repeats only an excerpt", async () => {
    const problem = expectProblem(await post(create, `{"prompt":"${'secret'.repeat(100_000)}`), 400, 'body')
    expect(problem.detail.length).toBeLessThan(300)
  })
})

describe('404', () => {
  test('an unknown id, however large, and every notation of a number', async () => {
    for (const value of ['424242', '424242.0', '4.24242e5', '9007199254740991', '2147483648'])
      expectProblem(await post(`${create}/stop`, `{"agent_run_id":${value}}`), 404)
  })
})

describe('200', () => {
  test('F101 keys named like parts of every object are keys', async () => {
    const body =
      '{"__proto__":{"prompt":"forged","status":"completed"},"constructor":{"prototype":{"a":1}},"toString":1,"prompt":"x"}'
    const { status, body: run } = await post(create, body)
    expect({ status, run }).toMatchObject({ status: 200, run: { status: 'queued', prompt: 'x' } })
    expect(({} as Record<string, unknown>).status).toBeUndefined()
  })

  test('depth 64, white space around, a charset, a type in any case', async () => {
    const deep = `{"metadata":{"a":${'['.repeat(62)}${']'.repeat(62)}},"prompt":"x"}`
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
    ])
      expect((await post(create, ` \r\n\t${deep}\n`, { 'content-type': type })).status).toBe(200)
  })

  test('a body of 20 MB', async () => {
    const unknown_key = 'x'.repeat(20 * 1024 * 1024)
    expect((await post(create, `{"prompt":"x","unknown":"${unknown_key}"}`)).status).toBe(200)
  })
})

describe('413', () => {
  const head = (path: string, length: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${app.token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`

  test('F106 a body that declares more than 24 MiB, before it is sent, and the connection ends', async () => {
    for (const bytes of [24 * 1024 * 1024 + 1, 99_999_999_999]) {
      const [result, ...rest] = await sendRaw(app, head(create, `content-length: ${bytes}`))
      expect([result?.status, rest]).toEqual([413, []])
      expect(JSON.parse(result?.body ?? '')).toMatchObject({ code: 'payload_too_large', status: 413 })
    }
  })

  test('F106 a chunked body that exceeds the limit, even if it has no end', async () => {
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
    const [result] = await sendRaw(app, [
      head(create, 'transfer-encoding: chunked'),
      ...Array.from({ length: 26 }, () => chunk),
    ])
    expect(result?.status).toBe(413)
  })

  test('in the common format of errors', async () => {
    expectProblem(await post(create, `{"prompt":"${'x'.repeat(24 * 1024 * 1024)}"}`), 413)
  })
})

describe('415', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'json',
    '*/*',
    '',
  ]
  test.each(types)('F107 a body of type %j, for every endpoint with a body', async type => {
    for (const call of calls)
      expectProblem(
        await post(call.path, JSON.stringify(call.body), { 'content-type': type }, call.method),
        415,
      )
  })

  test('F107 a compressed body, which is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
    for (const encoding of ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'x'])
      expectProblem(await post(create, bomb, { ...json, 'content-encoding': encoding }), 415)
    expect((await post(create, '{"prompt":"x"}', { ...json, 'content-encoding': 'identity' })).status).toBe(
      200,
    )
  })
})
