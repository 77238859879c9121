import { afterAll, beforeAll, expect, test } from 'vitest'
import { servePlain, type TestServer } from '../egress/servers.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { callsInTurn, playRun, startMcpApp } from './mcp-app.ts'

/** Reading the web under the egress rules of the run. */
let app: Awaited<ReturnType<typeof startMcpApp>>
let server: TestServer
let script: FakeScript = callsInTurn()
const seen: { method: string | undefined; url: string | undefined; authorization: string | undefined }[] = []

const HTML = `<!doctype html><title>T</title><style>p { color: red }</style><script>alert(1)</script>
<h1>Release notes</h1><p>See <a href="/v2">version 2</a>.</p><ul><li>one</li><li>two</li></ul>`
const deep = `${'<div>'.repeat(20_000)}deep`
const far = `/${'far'.repeat(2_500)}/page`
const pages: Record<string, [number, Record<string, string>, string | Buffer]> = {
  '/page': [200, { 'content-type': 'text/html; charset=utf-8' }, HTML],
  '/json': [200, { 'content-type': 'application/json' }, '{"a":1}'],
  '/latin': [200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from('caf\xe9', 'latin1')],
  '/deep': [200, { 'content-type': 'text/html' }, deep],
  '/links': [302, { location: far }, ''],
  [far]: [200, { 'content-type': 'text/html' }, '<a href="next">n</a>'.repeat(1_000)],
  '/image': [200, { 'content-type': 'image/png' }, 'png'],
  '/gone': [404, { 'content-type': 'text/plain' }, 'Nothing here.'],
  '/long': [200, { 'content-type': 'text/plain' }, `${'a'.repeat(30_000)}END`],
  '/huge': [200, { 'content-type': 'text/plain' }, 'b'.repeat(3 * 1024 ** 2)],
  '/moved': [302, { location: '/json' }, ''],
  '/loop': [302, { location: '/loop' }, ''],
  '/metadata': [302, { location: 'http://169.254.169.254/latest/meta-data' }, ''],
  '/elsewhere': [302, { location: 'https://evil.example/' }, ''],
  '/file': [302, { location: 'file:///etc/passwd' }, ''],
  '/secret': [200, { 'content-type': 'text/plain' }, 'It says value-of-a-secret.'],
}

beforeAll(async () => {
  server = await servePlain(({ method, url, headers }, response) => {
    seen.push({ method, url, authorization: headers.authorization })
    const [status, more, body] = pages[url ?? ''] ?? [500, {}, 'no such page']
    response.writeHead(status, more).end(body)
  })
  app = await startMcpApp((request, n) => script(request, n), { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/A_SECRET`, {
    value: 'value-of-a-secret',
    for_agent: true,
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const setEgress = async (agent: object) =>
  expect((await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })).status).toBe(200)
const at = (path: string) => `http://localhost:${server.port}${path}`

/** Reads the pages in one run with egress to the server. */
async function read(...inputs: { url: string; offset?: number }[]) {
  await setEgress({ mode: 'allowlist', allow: [{ host: 'localhost', port: server.port, methods: ['GET'] }] })
  script = callsInTurn(...inputs.map(input => ({ name: 'web_fetch', arguments: input })))
  const played = await playRun(app)
  expect(played.run.status).toBe('completed')
  return {
    ...played,
    outputs: played.actions
      .filter(({ tool_name }) => tool_name === 'web_fetch')
      .map(({ tool_output }) => tool_output),
  }
}

test('it is offered only while the run may reach a host, and can be turned off', async () => {
  await setEgress({ mode: 'off' })
  script = callsInTurn()
  expect((await playRun(app)).tools).not.toContain('web_fetch')
  await setEgress({ mode: 'allowlist', allow: [] })
  expect((await playRun(app)).tools).not.toContain('web_fetch')
  const { tools } = await read()
  expect(tools).toContain('web_fetch')
  expect((await playRun(app, { tools_off: ['web_fetch'] })).tools).not.toContain('web_fetch')
})

test('pages are read as text, with GET and without credentials, and redacted', async () => {
  const { outputs } = await read(
    ...['/page', '/json', '/latin', '/moved', '/secret'].map(path => ({ url: at(path) })),
  )
  expect(outputs).toEqual([
    {
      status: 'ok',
      url: at('/page'),
      text: `T\n\n\nRelease notes\n\nSee version 2 [${at('/v2')}].\n\n * one\n * two`,
    },
    { status: 'ok', url: at('/json'), text: '{"a":1}' },
    { status: 'ok', url: at('/latin'), text: 'café' },
    { status: 'ok', url: at('/json'), text: '{"a":1}' },
    { status: 'ok', url: at('/secret'), text: 'It says [redacted:A_SECRET].' },
  ])
  for (const { method, authorization } of seen) expect([method, authorization]).toEqual(['GET', undefined])
})

test('a long page is read in parts, and a huge one to a limit', async () => {
  const { outputs } = await read(
    { url: at('/long') },
    { url: at('/long'), offset: 26_000 },
    { url: at('/huge') },
    { url: at('/links') },
  )
  expect(outputs[0]).toMatchObject({ note: 'Characters 0 to 26000 of 30003. Use offset 26000 to continue.' })
  expect(outputs[1]?.text).toMatch(/^a{4000}END$/)
  expect(outputs[2]?.note).toContain(
    'of 2097152. Use offset 26000 to continue. The page is longer: only its beginning was read.',
  )
  expect(outputs[3]?.note).toContain(
    'of 4194304. Use offset 26000 to continue. The page is longer: only its beginning was read.',
  )
})

const refusals = [
  ['/metadata', '169.254.169.254 is a private or reserved address'],
  ['/elsewhere', 'no rule allows evil.example'],
  ['/file', 'It is not an http or https address.'],
  ['/loop', 'It redirects more than 5 times.'],
  ['/image', 'It responded with 200 and image/png, which is not text.'],
  ['/gone', 'It responded with 404.'],
] as const

test('a redirect to a closed address, a loop, a picture and a missing page are errors with their reasons', async () => {
  const { outputs } = await read(...refusals.map(([path]) => ({ url: at(path) })))
  expect(outputs).toMatchObject(
    refusals.map(([, message]) => ({ status: 'error', error: expect.stringContaining(message) })),
  )
})

test('an address without a rule, and one that is not a page, get no request; the trace shows what was refused', async () => {
  const before = seen.length
  const { outputs, actions, errors } = await read(
    { url: 'https://evil.example/' },
    { url: 'file:///etc/passwd' },
    { url: 'http://a:b@localhost/' },
  )
  expect(outputs).toMatchObject([
    { status: 'error', error: expect.stringContaining('no rule allows evil.example') },
    { status: 'error' },
    { status: 'error', error: expect.stringContaining('with credentials') },
  ])
  expect(errors.map(({ code }) => code)).toEqual(['bad_arguments'])
  expect(actions.find(({ tool_name }) => tool_name === 'egress_blocked')?.tool_input).toEqual({
    host: 'evil.example',
    port: 443,
    method: 'GET',
  })
  expect(seen.length).toBe(before)
})

test('a page of 20,000 nested elements holds up nothing', async () => {
  const { outputs } = await read({ url: at('/deep') }, { url: at('/json') })
  expect(outputs[1]).toMatchObject({ status: 'ok' })
})
