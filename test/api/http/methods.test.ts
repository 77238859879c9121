import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Endpoint, methodsOf, pathsOf } from '../../../src/contract/endpoint.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const table = Object.values(endpoints) as Endpoint[]
const paths = [...new Set(table.flatMap(pathsOf))]
const real = (path: string) => path.replace('{org_id}', `${app.org_id}`).replace('{agent_run_id}', '1')

describe('405', () => {
  test.each(paths)('F129 %s supports only the methods of the contract, and lists them', async path => {
    const served = table
      .filter(endpoint => pathsOf(endpoint).includes(path))
      .flatMap(endpoint => methodsOf(endpoint) as string[])
    const before = await contents(app)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      name => !served.includes(name),
    )) {
      const result = await fetch(app.base_url + real(path), {
        method,
        headers: { authorization: `Bearer ${app.token}` },
      })
      expect({ method, status: result.status }).toEqual({ method, status: 405 })
      expect(result.headers.get('allow')?.split(', ').sort()).toEqual(served.toSorted())
      const text = await result.text()
      if (method === 'HEAD') expect(text).toBe('')
      else expectProblem({ status: result.status, headers: result.headers, body: JSON.parse(text) }, 405)
    }
    expect(await contents(app)).toEqual(before)
  })
})

const got = table
  .filter(({ method }) => method === 'GET')
  .flatMap(endpoint => pathsOf(endpoint).map(path => ({ endpoint, path })))

describe('HEAD', () => {
  test.each(got)('$path has the status and the headers of GET, and no body', async ({ endpoint, path }) => {
    const url =
      app.base_url +
      real(path)
        .replace('{repo_id}', `${app.repo_id}`)
        .replace(/\{\w+\}/g, '1')
    const headers = { authorization: `Bearer ${app.token}` }
    const body_ends = new AbortController()
    const get = await fetch(url, { headers, signal: body_ends.signal })
    const head = await fetch(url, { method: 'HEAD', headers })
    const compared = (response: Response) =>
      ['content-type', 'content-encoding', 'allow', 'cache-control', 'x-api-stability'].map(name =>
        response.headers.get(name),
      )
    expect([head.status, ...compared(head)]).toEqual([get.status, ...compared(get)])
    expect(await head.text()).toBe('')
    // A stream has no length, and the length of a time may differ.
    if (endpoint.response !== 'stream' && endpoint.access === 'token')
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0)
    body_ends.abort()
  })
})

describe('404', () => {
  test.each([
    ...[
      '/metrics',
      '/debug',
      '/.env',
      '/.git/config',
      '/admin',
      '/v1',
      '/v1/',
      '/v2/organizations',
      '/V1/organizations',
      '/api',
      '/documentation',
      '/sessions',
    ],
    ...[
      '/v1/organizations/',
      '//v1/organizations',
      '/v1/organizations/1/agent/run/1/logs/',
      '/v1//organizations',
    ],
    ...[
      '/assets/../package.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/..%2f..%2fpackage.json',
      '/assets/%00',
      `/assets/${'a'.repeat(300)}`,
      '/..%2f..%2fetc%2fpasswd',
      '/v1;a=b/organizations',
    ],
  ])('F129 %s', async path => {
    const result = await app.call('GET', path)
    expectProblem(result, 404)
    expectProblem(await app.call('POST', path, { a: 1 }), 404)
  })

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'of a body of type %j that nobody would read',
    async type => {
      for (const [path, status] of [
        ['/nothing', 404],
        ['/v1/users/me', 405],
      ] as const) {
        const result = await fetch(app.base_url + path, {
          method: 'POST',
          body: '{',
          headers: { 'content-type': type },
        })
        expectProblem({ status: result.status, headers: result.headers, body: await result.json() }, status)
      }
    },
  )
})

test('F129 200: the document contains exactly the operations of the contract, and is public', async () => {
  const response = await fetch(`${app.base_url}/openapi.json`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('application/json')
  const document = (await response.json()) as {
    openapi: string
    servers: unknown
    paths: Record<string, Record<string, unknown>>
  }
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: app.base_url }] })
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(documented.sort()).toEqual(
    table.flatMap(endpoint => pathsOf(endpoint).map(path => `${endpoint.method} ${path}`)).sort(),
  )
})
