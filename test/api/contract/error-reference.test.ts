import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProblemCode, problems } from '../../../src/contract/error-codes.ts'
import { type App, startApp } from '../../start-app.ts'
import { withProfile } from '../clients/with-profile.ts'
import { sendRaw } from '../http/raw-request.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const codes = Object.keys(problems) as ProblemCode[]
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('the type of a problem resolves to its section, for a browser and for every other client', async () => {
  const codegen = await withProfile(app, 'codegen')
  const [parser = { body: '' }] = await sendRaw(app, 'BREW / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const met = [
    await app.call('GET', '/v1/users/me', undefined, { authorization: '' }),
    await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/999`),
    await app.call('PUT', '/v1/users/me'),
    await codegen.call('GET', `/v1/organizations/${app.org_id}/repos?limit=x`),
    { body: JSON.parse(parser.body) },
  ].map(({ body }) => body as { type: string; code: string })
  expect(met.map(({ code }) => code)).toEqual([
    'unauthorized',
    'not_found',
    'method_not_allowed',
    'invalid_request',
    'invalid_request',
  ])
  for (const { type, code } of met) {
    expect(type).toBe(`${app.base_url}/docs/errors#${code}`)
    const page = await fetch(type, { headers: browser })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain(`<section id="${code}">`)
    const text = await fetch(type)
    expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(await text.text()).toContain(`\n## ${code}\n`)
  }
})

test('the reference has a section for every code, with status, cause, fix and whether to retry', async () => {
  const page = await (await fetch(`${app.base_url}/docs/errors`, { headers: browser })).text()
  const sections = [...page.matchAll(/<section id="(\w+)">(.*?)<\/section>/gs)].map(
    ([, code = '', body = '']) => ({ code, body }),
  )
  expect(sections.map(({ code }) => code)).toEqual(codes)
  for (const { code, body } of sections) {
    expect(body).toContain(`${problems[code as ProblemCode].status} ${problems[code as ProblemCode].title}`)
    for (const name of ['Cause', 'Fix', 'Retry the same request'])
      expect(body).toMatch(new RegExp(`<dt>${name}</dt><dd>\\S+ .+\\.</dd>`, 's'))
  }
})

test('the page is cached by what the client accepts, runs no script, and its policy permits its own style alone', async () => {
  const response = await fetch(`${app.base_url}/docs/errors`, { headers: browser })
  const style = /<style>([^<]+)<\/style>/.exec(await response.text())?.[1] ?? ''
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  expect(response.headers.get('vary')).toBe('Authorization, Origin, Accept-Encoding, Accept')
  const head = await fetch(`${app.base_url}/docs/errors`, { method: 'HEAD', headers: browser })
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
    200,
    'text/html; charset=utf-8',
    '',
  ])
})
