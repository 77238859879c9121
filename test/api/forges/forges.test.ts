import { generateKeyPairSync } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ForgeConnection, ForgeRepositoryPage } from '../../../src/contract/repositories/forges.ts'
import { createSealer } from '../../../src/core/secrets/sealing.ts'
import { ServiceError } from '../../../src/core/service-error.ts'
import type { Context } from '../../../src/service/context.ts'
import { connectForge } from '../../../src/service/forges/forges.ts'
import { rotateSecrets } from '../../../src/service/secrets/rotate-secrets.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

const KEY = '5'.repeat(64)
let app: App
let github: FakeGitHub
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_ALLOW_PRIVATE_GIT: '1',
    AGENTRUN_SECRET_KEY: KEY,
  })
  github = await startFakeGitHub()
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})
beforeEach(() => rows(app, 'delete from forges'))

const at = (path = '') => `/v1/organizations/${app.org_id}/integrations${path}`
const connect = (body: Record<string, unknown>) =>
  app.call('PUT', at('/github'), { url: github.url, ...body })
const by_token = () => ({ token: github.token })
const by_app = () => ({ app: { app_id: github.app.id, private_key: github.app.private_key } })

describe('200', () => {
  test('a connection by token is tested immediately, listed, and shows its webhook secret once', async () => {
    const { status, body } = await connect(by_token())
    expect([status, ForgeConnection.strict().parse(body)]).toMatchObject([
      200,
      {
        kind: 'github',
        url: github.url,
        auth: 'token',
        login: 'agent-bot',
        active: true,
        problem: null,
        updated_by: app.user_id,
        webhook_url: `${app.base_url}/hooks/github/${body.id}`,
        webhook_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    const again = await connect(by_token())
    expect(again.body).toMatchObject({ id: body.id, webhook_secret: null })
    const { body: listed } = await app.call('GET', at())
    expect(listed).toMatchObject({
      total_active_integrations: 1,
      integrations: [
        {
          integration_type: 'github',
          active: true,
          token_id: null,
          metadata: { url: github.url, login: 'agent-bot' },
        },
      ],
    })
    expect(JSON.stringify(listed)).not.toMatch(new RegExp(`${github.token}|${body.webhook_secret}`))
  })

  test('a connection can be deleted after the operator stopped allowing private addresses', async () => {
    await connect(by_token())
    await using strict = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_SECRET_KEY: KEY,
      DATABASE_URL: app.database_url,
    })
    expectProblem(
      await strict.call('PUT', at('/github'), { url: github.url, ...by_token() }),
      400,
      'body.url',
    )
    const end = () => strict.call('DELETE', `${at('/github')}?url=${encodeURIComponent(github.url)}`)
    expect(await end()).toMatchObject({ status: 200, body: { url: github.url } })
    expectProblem(await end(), 404)
  })

  test('an app is identified by its name; its stored key can only be decrypted with the key of the service', async () => {
    const { body } = await connect(by_app())
    expect(body).toMatchObject({
      auth: 'app',
      app_id: github.app.id,
      app_slug: 'careful-agent',
      login: 'careful-agent[bot]',
      active: true,
    })
    const [row] = await rows<{ text: string }>(app, 'select to_jsonb(f)::text as text from forges f')
    expect(row?.text).not.toContain('PRIVATE KEY')
    const next = createSealer(Buffer.alloc(32, 7), [Buffer.from(KEY, 'hex')])
    expect(await rotateSecrets(app.db, next)).toMatchObject({ resealed: 1, unreadable: 0 })
    const [turned] = await rows<{ key_id: string }>(app, 'select key_id from forges')
    expect(turned?.key_id).toBe(next.key_id)
  })

  test('credentials that the forge rejects are stored, with the reason why they do not work', async () => {
    const wrong = await connect({ token: 'ghp_wrong' })
    expect(wrong).toMatchObject({
      status: 200,
      body: { active: false, login: null, problem: 'GitHub responded with 401: Bad credentials' },
    })
    const away = await app.call('PUT', at('/github'), { url: 'http://127.0.0.1:1', token: 'x' })
    expect(away.body).toMatchObject({ active: false, problem: expect.stringContaining('was not reached') })
    expect((await app.call('GET', at())).body).toMatchObject({ total_active_integrations: 0 })
  })

  test('its repositories are marked as registered or not', async () => {
    await connect(by_token())
    const added = await app.call('POST', `/v1/organizations/${app.org_id}/repos`, {
      url: `${github.url}/acme/app.git`,
    })
    const { status, body } = await app.call(
      'GET',
      at(`/github/repositories?url=${encodeURIComponent(github.url)}&limit=2&skip=0`),
    )
    expect([status, ForgeRepositoryPage.parse(body)]).toMatchObject([
      200,
      {
        total: 131,
        pages: 66,
        items: [
          { full_name: 'acme/app', repo_id: added.body.id },
          { full_name: 'acme/other-0', repo_id: null },
        ],
      },
    ])
  })

  test('a connection is deleted, with all its secrets', async () => {
    await connect(by_token())
    const path = at(`/github?url=${encodeURIComponent(github.url)}`)
    expect(await app.call('DELETE', path)).toMatchObject({
      status: 200,
      body: { url: github.url, webhook_secret: null },
    })
    expect(await rows(app, 'select 1 from forges')).toEqual([])
  })
})

describe('404', () => {
  test('there is no connection to delete', async () => {
    expectProblem(await app.call('DELETE', at(`/github?url=${encodeURIComponent(github.url)}`)), 404)
  })
})

describe('400', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const other_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  test.each([
    [{ url: 'github.com', token: 'x' }, 'body.url'],
    [{ url: 'https://github.com/api/v3', token: 'x' }, 'body.url'],
    [{ url: 'https://a:b@github.com', token: 'x' }, 'body.url'],
    [{}, 'body.token'],
    [{ token: 'x', app: { app_id: 1, private_key: 'x' } }, 'body.token'],
    [{ app: { app_id: 1, private_key: 'x' } }, 'body.app.private_key'],
    [{ app: { app_id: 1, private_key: other_key } }, 'body.app.private_key'],
    [{ app: { app_id: 0, private_key: 'x' } }, 'body.app.app_id'],
    [{ token: 'x', webhook_secret: 'short' }, 'body.webhook_secret'],
  ])('%j names what is wrong', async (body, field) => {
    expectProblem(await app.call('PUT', at('/github'), body), 400, field)
    expect(await rows(app, 'select 1 from forges')).toEqual([])
  })

  test('a private address, unless the operator allows it', async () => {
    await using closed = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    for (const url of [github.url, 'https://10.0.0.1', 'https://localhost']) {
      const response = await closed.call('PUT', `/v1/organizations/${closed.org_id}/integrations/github`, {
        url,
        ...by_token(),
      })
      expectProblem(response, 400, 'body.url')
    }
  })
})

describe('a host without an address', () => {
  const nowhere = 'https://no-such-forge.invalid'
  const code = () => lookup('no-such-forge.invalid').then(String, error => error.code)

  test.each(['github', 'gitea'])('cannot be connected as %s, and the field is named', async kind => {
    const refused = await app.call('PUT', at(`/${kind}`), { url: nowhere, token: 'x' })
    // A machine without a name server cannot determine that there is no such name.
    const problem =
      (await code()) === 'ENOTFOUND' ? expectProblem(refused, 400, 'body.url') : expectProblem(refused, 503)
    expect(JSON.stringify(problem)).toMatch(/the host has no address|try again/)
    expect(await rows(app, 'select 1 from forges')).toEqual([])
  })

  test('can be connected again with other credentials', async () => {
    await connect(by_token())
    await rows(app, 'update forges set url = $1', [nowhere])
    const again = await app.call('PUT', at('/github'), { url: nowhere, token: 'x' })
    expect(again).toMatchObject({ status: 200, body: { active: false, problem: expect.any(String) } })
  })

  test.each([
    ['unknown', 'invalid_request', ['body.url']],
    ['forbidden', 'invalid_request', ['body.url']],
    ['unavailable', 'unavailable', []],
  ] as const)('that is %s is refused before the forge receives a request', async (found, problem, fields) => {
    const forges = { lookUp: async () => found }
    const ctx = {
      db: app.db,
      organization_id: app.org_id,
      allow_private_forges: false,
      forges,
    } as unknown as Context
    const refused = await connectForge(ctx, 'gitea', { url: 'https://git.example.org', token: 'x' }).catch(
      error => error,
    )
    expect(refused).toBeInstanceOf(ServiceError)
    expect({
      code: refused.code,
      fields: refused.errors.map(({ loc }: { loc: string[] }) => loc.join('.')),
    }).toEqual({
      code: problem,
      fields,
    })
    expect(refused.headers).toEqual(found === 'unavailable' ? { 'retry-after': '5' } : {})
  })
})

describe('409 and 503', () => {
  const list = (url: string) => app.call('GET', at(`/github/repositories?url=${encodeURIComponent(url)}`))
  test('no connection; one with revoked credentials; one whose forge does not respond', async () => {
    expect(await list(github.url)).toMatchObject({ status: 200, body: { items: [], total: 0 } })
    await connect({ token: 'ghp_wrong' })
    expectProblem(await list(github.url), 409)
    await connect(by_token())
    github.play('GET /user/repos', { kind: 'secondary_limit', seconds: 9 })
    const busy = await list(github.url)
    expectProblem(busy, 503)
    expect(busy.headers.get('retry-after')).toBe('9')
  })

  test('ten connections are enough', async () => {
    await rows(
      app,
      `insert into forges (organization_id, kind, url, auth, key_id, sealed, updated_by)
        select $1, 'github', 'https://' || n, 'token', 'k', '', $2
        from generate_series(1, 10) n`,
      [app.org_id, app.user_id],
    )
    expectProblem(await connect(by_token()), 409)
  })
})
