import { describe, expect, test } from 'vitest'
import { AgentRunError, type ClientOptions, createClient } from '../../src/client/sdk/client.ts'
import { type Reply, startResponding } from './responding-server.ts'

const busy = (retry_after: string): Reply => ({ status: 429, headers: { 'retry-after': retry_after } })
const away: Reply = { status: 503 }
const cut: Reply = response => response.socket?.destroy()
const run = { body: { id: 7, status: 'queued' } }

async function start(replies: Reply[], options: Partial<ClientOptions> = {}) {
  const server = await startResponding(...replies)
  const client = createClient({ base_url: server.base_url, token: 'a-token', organization_id: 1, ...options })
  return {
    server,
    client,
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

describe('Retry-After', () => {
  test('is waited for when it is in seconds', async () => {
    await using service = await start([busy('1'), run])
    expect(await service.client.runs.get(7)).toMatchObject({ id: 7 })
    expect(service.requests).toHaveLength(2)
    expect((service.requests[1]?.at ?? 0) - (service.requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('is waited for when it is a date', async () => {
    // Dates have whole seconds: two ahead is at least one.
    await using service = await start([
      response =>
        response.writeHead(429, { 'retry-after': new Date(Date.now() + 2_000).toUTCString() }).end(),
      run,
    ])
    expect(await service.client.runs.get(7)).toMatchObject({ id: 7 })
    expect((service.requests[1]?.at ?? 0) - (service.requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(990)
  })

  test('longer than the caller would wait is an error immediately, with the delay', async () => {
    await using service = await start([busy('3600'), run])
    await expect(service.client.runs.get(7)).rejects.toMatchObject({ status: 429, retry_after_ms: 3_600_000 })
    expect(service.requests).toHaveLength(1)
  })

  test('of a 429 is honoured for every method: nothing was done', async () => {
    await using service = await start([busy('0'), run])
    await service.client.call('createAgentRun', { body: { prompt: 'x' }, idempotency_key: null })
    expect(service.requests.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })
})

describe('a cut connection', () => {
  test('is tried again for a create, with the same random key and body', async () => {
    await using service = await start([cut, away, run, run])
    expect(await service.client.runs.create({ prompt: 'Do it' })).toMatchObject({ id: 7 })
    const keys = service.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    expect(service.requests.map(({ body }) => JSON.parse(body))).toEqual(Array(3).fill({ prompt: 'Do it' }))
    await service.client.runs.create({ prompt: 'Do it' })
    expect(service.requests[3]?.headers['idempotency-key']).not.toBe(keys[0])
  })

  test('whose request is still running is repeated, at the delay of the service', async () => {
    await using service = await start([cut, { status: 409, headers: { 'retry-after': '0' } }, run])
    expect(await service.client.runs.create({ prompt: 'Do it' })).toMatchObject({ id: 7 })
    expect(new Set(service.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('is tried again for a resume, and with a key of the caller as it is', async () => {
    await using service = await start([cut, run])
    await service.client.runs.resume(7, 'Go on', { idempotency_key: 'mine' })
    expect(service.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', 'mine'])
  })

  test('in the middle of the response is retried too', async () => {
    await using service = await start([
      response => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('{"id":', () => response.socket?.destroy())
      },
      run,
    ])
    expect(await service.client.runs.get(7)).toMatchObject({ id: 7 })
  })

  test('is not tried again for a write that the service could not recognize', async () => {
    await using service = await start([cut, run])
    await expect(
      service.client.call('createAgentRun', { body: { prompt: 'x' }, idempotency_key: null }),
    ).rejects.toMatchObject({
      status: 0,
      code: 'unreachable',
    })
    expect(service.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined])
  })

  test('is tried again for a stop: a second one changes nothing', async () => {
    await using service = await start([cut, run])
    await service.client.runs.stop(7)
    expect(service.requests.map(({ body }) => body)).toEqual(['{"agent_run_id":7}', '{"agent_run_id":7}'])
  })
})

test('a service that stays away is given up after the number of retries', async () => {
  await using service = await start([away], { retries: 2 })
  await expect(service.client.runs.get(7)).rejects.toMatchObject({ status: 503, code: 'unexpected' })
  expect(service.requests).toHaveLength(3)
})

test.each([400, 401, 403, 404, 409, 500, 501])('a %i is not tried again', async status => {
  await using service = await start([{ status }])
  await expect(service.client.runs.create({ prompt: 'x' })).rejects.toMatchObject({ status })
  expect(service.requests).toHaveLength(1)
})

test('an abort ends a wait between attempts and an open request, with the reason', async () => {
  const reason = new Error('changed my mind')
  const abort = new AbortController()
  await using waiting = await start([busy('30')])
  const response = waiting.client.runs.get(7, { signal: abort.signal })
  await expect.poll(() => waiting.requests.length).toBe(1)
  abort.abort(reason)
  await expect(response).rejects.toBe(reason)

  const second = new AbortController()
  await using silent = await start([() => second.abort(reason)])
  await expect(silent.client.runs.get(7, { signal: second.signal })).rejects.toBe(reason)
  expect(silent.requests).toHaveLength(1)
})

test('a service that does not respond in time, or is unreachable, is distinguished from one that refuses', async () => {
  const silent = await start([() => {}], { retries: 0, timeout_ms: 100 })
  await expect(silent.client.runs.get(7)).rejects.toMatchObject({ status: 0, code: 'timeout' })
  await silent[Symbol.asyncDispose]()
  await expect(silent.client.runs.get(7)).rejects.toMatchObject({
    status: 0,
    code: 'unreachable',
    detail: expect.stringMatching(/ECONNREFUSED/),
  })
})

test('a redirect is not followed: the token goes to the service alone', async () => {
  await using other = await startResponding(run)
  await using service = await start([{ status: 308, headers: { location: `${other.base_url}/stolen` } }])
  await expect(service.client.runs.get(7)).rejects.toThrow(/redirects to .*stolen/)
  expect(other.requests).toEqual([])
})

test('a response without a problem document or JSON is an error with the available information', async () => {
  await using proxy = await start([{ status: 418, headers: { 'x-request-id': 'r-1' } }])
  const error: unknown = await proxy.client.runs.get(7).catch(error => error)
  expect(error).toBeInstanceOf(AgentRunError)
  expect(error).toMatchObject({
    status: 418,
    code: 'unexpected',
    request_id: 'r-1',
    problem: null,
    errors: [],
  })
  await using page = await start([
    response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ])
  await expect(page.client.runs.get(7)).rejects.toMatchObject({ status: 200, code: 'unexpected' })
})
