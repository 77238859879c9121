import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { McpServer, McpServerPage } from '../../../src/contract/organizations/mcp-servers.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const locations = ['/mcp-servers', '/repos/{repo_id}/mcp-servers'] as const
const at = (path: string) => `/v1/organizations/${app.org_id}${path.replace('{repo_id}', `${app.repo_id}`)}`
const CREDENTIAL = 'credential-of-the-server'

describe.each(locations)('%s', location => {
  const put = (name: string, body: unknown) => app.call('PUT', `${at(location)}/${name}`, body)
  const secrets = () =>
    rows<{ name: string }>(
      app,
      `select name
        from secrets
        where name like 'AGENTRUN_MCP%' and (repository_id is null) = $1`,
      [location === '/mcp-servers'],
    )

  test('200: a server is set, listed by name, replaced and deleted; its credential is a secret, and in no response', async () => {
    const url = 'https://mcp.example.com/mcp'
    const first = await put('tickets', { url, credential: CREDENTIAL, tools: ['search'] })
    expect(first.status).toBe(200)
    expect(McpServer.strict().parse(first.body)).toMatchObject({
      name: 'tickets',
      repo_id: location === '/mcp-servers' ? null : app.repo_id,
      url,
      has_credential: true,
      tools: ['search'],
      command: null,
      args: [],
      environment: {},
      headers: {},
      enabled: true,
      timeout_seconds: 60,
      updated_by: app.user_id,
    })
    expect(await secrets()).toEqual([{ name: 'AGENTRUN_MCP_CREDENTIAL_TICKETS' }])
    await put('files', { command: 'npx', args: ['-y', 'server'], environment: { ROOT: '/workspace' } })
    const { body } = await app.call('GET', at(location))
    expect(McpServerPage.strict().parse(body)).toMatchObject({
      items: [{ name: 'files' }, { name: 'tickets' }],
      total: 2,
    })
    expect(JSON.stringify([first.body, body])).not.toContain(CREDENTIAL)
    const again = await put('tickets', { url: 'https://mcp.example.com/v2', enabled: false })
    expect(again.body).toMatchObject({ enabled: false, has_credential: true, tools: null })
    expect((await app.call('DELETE', `${at(location)}/tickets`)).body).toEqual(again.body)
    expect(await secrets()).toEqual([])
    await app.call('DELETE', `${at(location)}/files`)
  })

  test('400: the credential of one address is not sent to another, also not to another authorization server', async () => {
    await put('moved', { url: 'https://mcp.example.com/mcp', credential: CREDENTIAL })
    const elsewhere = { url: 'https://elsewhere.example/mcp' }
    expectProblem(await put('moved', elsewhere), 400, 'body.credential')
    const oauth = { client_id: 'c', issuer: 'https://auth.example.com', scope: null }
    expectProblem(await put('moved', { url: 'https://mcp.example.com/mcp', oauth }), 400, 'body.credential')
    expect((await put('moved', { ...elsewhere, credential: null })).body).toMatchObject({
      has_credential: false,
    })
    expectProblem(await put('moved', { ...elsewhere, oauth }), 400, 'body.credential')
    expect((await put('moved', { ...elsewhere, oauth, credential: CREDENTIAL })).status).toBe(200)
    expectProblem(await put('moved', { url: 'https://mcp.example.com/mcp', oauth }), 400, 'body.credential')
    expectProblem(
      await put('moved', { ...elsewhere, oauth: { ...oauth, issuer: 'https://other.example' } }),
      400,
      'body.credential',
    )
    expect((await put('moved', { url: 'https://elsewhere.example/v2', oauth })).status).toBe(200)
    await put('moved', { ...elsewhere, credential: CREDENTIAL })
    expect((await put('moved', { command: 'x' })).body).toMatchObject({ has_credential: false, url: null })
    expect(await secrets()).toEqual([])
    await app.call('DELETE', `${at(location)}/moved`)
  })

  test('404: a server that does not exist cannot be deleted', async () => {
    expectProblem(await app.call('DELETE', `${at(location)}/nobody`), 404)
  })

  test('409: one more than the limit', async () => {
    for (let i = 0; i < 20; i++) expect((await put(`s${i}`, { command: 'x' })).status).toBe(200)
    expectProblem(await put('more', { command: 'x' }), 409)
    expect((await put('s3', { command: 'y' })).status).toBe(200)
    for (let i = 0; i < 20; i++) await app.call('DELETE', `${at(location)}/s${i}`)
  })

  test.each([
    ['Tickets', { command: 'x' }, 'path.server'],
    ['a--b', { command: 'x' }, 'path.server'],
    ['a', {}, 'body.command'],
    ['a', { command: 'x', url: 'https://a.example' }, 'body.command'],
    ['a', { command: 'x', credential: CREDENTIAL }, 'body.credential'],
    ['a', { command: 'x', headers: { 'X-A': 'b' } }, 'body.headers'],
    ['a', { url: 'https://a.example', args: ['x'] }, 'body.args'],
    ['a', { url: 'ftp://a.example' }, 'body.url'],
    ['a', { url: 'https://user:pass@a.example' }, 'body.url'],
    ['a', { url: 'https://a.example', headers: { Host: 'b' } }, 'body.headers.Host'],
    ['a', { url: 'https://a.example', headers: { 'X-A': 'b\r\nX-B: c' } }, 'body.headers.X-A'],
    ['a', { url: 'https://a.example', headers: { Expect: '100-continue' } }, 'body.headers.Expect'],
    ...[
      'Host',
      'Transfer-Encoding',
      'content-length',
      'Mcp-Session-Id',
      'Expect',
      'Upgrade',
      'TE',
      'Trailer',
    ].map((credential_header): [string, object, string] => [
      'a',
      { url: 'https://a.example', credential_header },
      'body.credential_header',
    ]),
    ['a', { url: 'https://a.example', credential: 'short' }, 'body.credential'],
    ['a', { command: 'x', environment: { 'A=B': 'c' } }, 'body.environment.A=B'],
    ['a', { command: 'x', timeout_seconds: 0 }, 'body.timeout_seconds'],
    ['a', { command: 'x', sign_in: { client_id: null, issuer: null, scope: null } }, 'body.sign_in'],
    [
      'a',
      { url: 'https://a.example', sign_in: { client_id: 'c', issuer: null, scope: null } },
      'body.sign_in.issuer',
    ],
    [
      'a',
      { url: 'https://a.example', sign_in: { client_id: null, issuer: 'x', scope: null } },
      'body.sign_in.issuer',
    ],
    [
      'a',
      {
        url: 'https://a.example',
        sign_in: { client_id: null, issuer: null, scope: null },
        credential: CREDENTIAL,
      },
      'body.credential',
    ],
    [
      'a',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
      { url: 'https://a.example/${X}', sign_in: { client_id: null, issuer: null, scope: null } },
      'body.url',
    ],
  ])('400: %s %j; the error names the field, and nothing is stored', async (name, body, field) => {
    const before = await contents(app)
    expectProblem(await put(name, body), 400, field)
    expect(await contents(app)).toEqual(before)
  })
})

test('the servers of a repository are deleted with it', async () => {
  const { body: repository } = await app.call('POST', `/v1/organizations/${app.org_id}/repos`, {
    url: 'https://git.example.org/a/b.git',
  })
  const servers = `/v1/organizations/${app.org_id}/repos/${repository.id}/mcp-servers`
  await app.call('PUT', `${servers}/tickets`, { url: 'https://mcp.example.com/mcp', credential: CREDENTIAL })
  expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/repos/${repository.id}`)).status).toBe(
    200,
  )
  const left = `select name
    from secrets
    where repository_id = $1
    union all select name
    from mcp_servers
    where repository_id = $1`
  expect(await rows(app, left, [repository.id])).toEqual([])
})

test('servers are for administrators, and each change is in the audit log without the credential', async () => {
  const { body } = await app.call('PUT', at('/mcp-servers/audited'), {
    url: 'https://mcp.example.com/mcp',
    credential: CREDENTIAL,
  })
  expect(body.name).toBe('audited')
  const entries = await rows(
    app,
    `select action, detail::text from audit_entries where target_id = 'audited'`,
    [],
  )
  expect(entries).toEqual([
    { action: 'mcp_server.set', detail: expect.stringContaining('"has_credential":true') },
  ])
  expect(JSON.stringify(entries)).not.toContain(CREDENTIAL)
})
