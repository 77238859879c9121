import { buffer, text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/contract/limits.ts'
import { newToken } from '../../src/core/access/token.ts'
import { gitClient } from '../api/forges/git-client.ts'
import { type App, startApp, TOKEN } from '../start-app.ts'
import { freePort, HOST, isInstalled, type ProxyName, type RunningProxy, startProxy } from './start-proxy.ts'

const json = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

describe.each(['nginx', 'caddy'] as const satisfies ProxyName[])('behind %s with its example', name => {
  if (!isInstalled(name)) return void test.skip(`${name} is not installed`)
  let app: App
  let proxy: RunningProxy
  let org: string
  beforeAll(async () => {
    const [port, service_port] = [await freePort(), await freePort()]
    app = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_LIMIT_FAILED_TOKENS: '5/60',
      AGENTRUN_PORT: String(service_port),
      AGENTRUN_BASE_URL: `https://${HOST}:${port}`,
      AGENTRUN_TRUST_PROXY: '1',
    })
    proxy = await startProxy(name, port, service_port)
    org = `/v1/organizations/${app.org_id}`
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await app?.[Symbol.asyncDispose]()
  })

  test('an event arrives while its stream is open', async () => {
    const stream = await proxy.send('GET', `${org}/events`, json)
    expect(stream).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': expect.stringContaining('text/event-stream') },
    })
    expect(stream.headers).not.toHaveProperty('content-encoding')
    const created = JSON.parse(
      await text(await proxy.send('POST', `${org}/agent/run`, json, JSON.stringify({ prompt: 'x' }))),
    )
    let received = ''
    for await (const chunk of stream) {
      received += chunk
      if (received.includes(`"agent_run_id":${created.id}`)) break
    }
    expect(received).toContain(`"agent_run_id":${created.id}`)
  })

  test('a body of 16 MiB reaches the service, and one that the service refuses is refused', async () => {
    const bodyOf = (bytes: number) => JSON.stringify({ prompt: 'x'.repeat(bytes) })
    const large = await proxy.send('POST', `${org}/agent/run`, json, bodyOf(16 * 1024 * 1024))
    expect(large.statusCode).toBe(400)
    expect(await text(large)).toContain('prompt')
    const response = await proxy
      .send('POST', `${org}/agent/run`, json, bodyOf(limits.body_bytes))
      .catch(() => null)
    response?.resume()
    // A client that is still sending may see the end of the connection instead.
    if (response !== null) expect(response.statusCode).toBe(413)
  })

  test('a response is compressed once, by the service', async () => {
    const send = (encoding: string) => proxy.send('GET', '/openapi.json', { 'accept-encoding': encoding })
    const plain = await buffer(await send('identity'))
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const response = await send(encoding)
      expect(response.headers['content-encoding']).toBe(encoding)
      expect(decode(await buffer(response)).equals(plain)).toBe(true)
    }
  })

  test('the address that a client writes into X-Forwarded-For is not used', async () => {
    const guess = async (n: number) => {
      const response = await proxy.send('GET', '/v1/users/me', {
        authorization: `Bearer ${newToken('p')}`,
        'x-forwarded-for': `203.0.113.${n}`,
      })
      response.resume()
      return response.statusCode
    }
    const statuses = []
    for (let n = 1; n <= 8; n++) statuses.push(await guess(n))
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(3).fill(429)])
  })

  test('sign-in accepts the origin of the public address alone, and its cookie is for https', async () => {
    const signIn = async (origin: string) => {
      const code = new URL(await app.signInLink()).hash.slice('#code='.length)
      const response = await proxy.send(
        'POST',
        '/session',
        { 'content-type': 'application/json', origin },
        JSON.stringify({ code }),
      )
      response.resume()
      return response
    }
    const signed_in = await signIn(proxy.base_url)
    expect(signed_in.statusCode).toBe(200)
    expect(signed_in.headers['set-cookie']?.join()).toMatch(/; Secure/)
    expect((await signIn('https://other.example')).statusCode).toBe(403)
  })

  test('git fetches, and an MCP client initializes', async () => {
    using client = gitClient({ ...app, base_url: proxy.base_url }, { GIT_SSL_CAINFO: proxy.ca_file })
    const resolve = `http.curloptResolve=${HOST}:${new URL(proxy.base_url).port}:127.0.0.1`
    await client.ok('.', '-c', resolve, 'clone', '--quiet', client.address(), 'fetched')
    expect(await client.ok('fetched', 'rev-list', '--count', 'HEAD')).toBe('1')

    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const response = await proxy.send(
      'POST',
      '/mcp',
      { ...json, accept: 'application/json, text/event-stream' },
      body,
    )
    expect(response.statusCode).toBe(200)
    expect(await text(response)).toContain('"serverInfo"')
  })
})
