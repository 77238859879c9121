import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'

let app: App
let logs: string
let assets: string[]
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  const each = (n: number) =>
    entry({ message_type: 'ACTION', tool_name: 'shell', tool_output: { stdout: `line ${n}\n`.repeat(90) } })
  await append(app.db, app.org_id, id, null, { entries: Array.from({ length: 120 }, (_, n) => each(n)) })
  logs = `/v1/organizations/${app.org_id}/agent/run/${id}/logs`
  const page = await (await fetch(app.base_url)).text()
  const paths = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, path = '']) => path,
  )
  const sizes = await Promise.all(paths.map(async path => (await wire(path, null)).body.length))
  // Small ones are sent as they are.
  assets = paths.filter((_, n) => (sizes[n] ?? 0) > 4_000)
})
afterAll(() => app[Symbol.asyncDispose]())

/** The raw response. */
async function wire(path: string, encoding: string | null, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>()
  const given = {
    authorization: `Bearer ${app.token}`,
    ...(encoding !== null && { 'accept-encoding': encoding }),
    ...headers,
  }
  request(app.base_url + path, { headers: given }, resolve)
    .on('error', reject)
    .end()
  const response = await promise
  const body = await buffer(response)
  return {
    status: response.statusCode,
    headers: response.headers,
    body,
    encoding: response.headers['content-encoding'] ?? null,
  }
}
const unpack = { br: brotliDecompressSync, gzip: gunzipSync }

test('JSON, the API document and files of the page are sent as br or gzip to clients that accept it, in fewer bytes', async () => {
  expect(assets.length).toBeGreaterThan(1)
  for (const [path, most] of [
    [logs, 0.15],
    ['/openapi.json', 0.2],
    ...assets.map(path => [path, 0.4] as const),
  ] as const) {
    const plain = await wire(path, null)
    expect([path, plain.status, plain.encoding]).toEqual([path, 200, null])
    for (const name of ['br', 'gzip'] as const) {
      const { body, encoding, headers } = await wire(path, name)
      expect([path, encoding]).toEqual([path, name])
      expect(body.length, path).toBeLessThan(plain.body.length * most)
      expect(Number(headers['content-length']), path).toBe(body.length)
      expect(headers.vary?.toLowerCase().split(', ')).toContain('accept-encoding')
      expect(unpack[name](body).equals(plain.body), path).toBe(true)
    }
  }
})

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0', null],
  ['deflate', null],
  ['identity', null],
])('%j gets %s', async (accepted, encoding) => {
  expect((await wire(logs, accepted)).encoding).toBe(encoding)
})

test('never: small responses, event streams, sign-in, git', async () => {
  expect((await wire('/healthz', 'br')).encoding).toBeNull()
  for (const path of ['/session', `/git/${app.org_id}/${app.repo_id}.git/info/refs?service=git-upload-pack`])
    expect([path, (await wire(path, 'br, gzip')).encoding]).toEqual([path, null])
  const gone = new AbortController()
  const stream = await fetch(`${app.base_url}${logs.replace('/logs', '/events')}`, {
    headers: { authorization: `Bearer ${app.token}`, 'accept-encoding': 'br, gzip' },
    signal: gone.signal,
  })
  expect([stream.status, stream.headers.get('content-encoding')]).toEqual([200, null])
  gone.abort()
})

test('a file that the client already has, in the same encoding, is 304', async () => {
  for (const encoding of ['br', 'gzip']) {
    const { etag } = (await wire(assets[0] ?? '', encoding)).headers
    const again = await wire(assets[0] ?? '', encoding, { 'if-none-match': etag ?? '' })
    expect([encoding, again.status, again.body.length]).toEqual([encoding, 304, 0])
  }
})

test('the API document takes at most 56 kB once it was requested', async () => {
  await wire('/openapi.json', 'br')
  const small = await vi.waitFor(async () => {
    const response = await wire('/openapi.json', 'br')
    expect(response.body.length).toBeLessThanOrEqual(56_000)
    return response
  }, 25_000)
  expect(brotliDecompressSync(small.body).equals((await wire('/openapi.json', null)).body)).toBe(true)
})
