import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  ForgeConnection,
  ForgeReceipt,
  ForgeRepositoryPage,
} from '../../../src/contract/repositories/forges.ts'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitea, startFakeGitea } from '../../forge/fake-gitea.ts'
import { commentBy, statusOf } from '../../forge/gitea-payloads.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let gitea: FakeGitea
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  gitea = await startFakeGitea()
})
afterAll(async () => {
  expect(gitea.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await gitea[Symbol.asyncDispose]()
})
beforeEach(() => rows(app, 'delete from forges'))

const at = (path = '') => `/v1/organizations/${app.org_id}/integrations${path}`
const connect = (body: Record<string, unknown> = {}) =>
  app.call('PUT', at('/gitea'), { url: gitea.url, token: gitea.token, ...body })
const list = (more = '') =>
  app.call('GET', at(`/gitea/repositories?url=${encodeURIComponent(gitea.url)}${more}`))
const end = () => app.call('DELETE', at(`/gitea?url=${encodeURIComponent(gitea.url)}`))
const hook = async () => (await connect({ webhook_secret: SECRET })).body.webhook_url as string

describe('200', () => {
  test('a connection is tested immediately, listed with its kind, and shows its webhook secret once', async () => {
    const { status, body } = await connect({ url: `${gitea.url}/` })
    expect([status, ForgeConnection.strict().parse(body)]).toMatchObject([
      200,
      {
        kind: 'gitea',
        url: gitea.url,
        auth: 'token',
        login: 'agent-bot',
        app_id: null,
        active: true,
        problem: null,
        webhook_url: `${app.base_url}/hooks/gitea/${body.id}`,
        webhook_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    expect((await connect()).body).toMatchObject({ id: body.id, webhook_secret: null })
    const { body: listed } = await app.call('GET', at())
    expect(listed.integrations).toMatchObject([
      { integration_type: 'gitea', active: true, metadata: { url: gitea.url, login: 'agent-bot' } },
    ])
    expect(JSON.stringify(listed)).not.toMatch(new RegExp(`${gitea.token}|${body.webhook_secret}`))
    const wrong = await connect({ token: 'wrong' })
    expect(wrong.body).toMatchObject({
      active: false,
      problem: 'Gitea responded with 401: invalid username, password or token',
    })
  })

  test('its repositories are marked as registered or not, and it is deleted', async () => {
    await connect()
    const added = await app.call('POST', `/v1/organizations/${app.org_id}/repos`, {
      url: `${gitea.url}/acme/app.git`,
    })
    const { status, body } = await list('&limit=2')
    expect([status, ForgeRepositoryPage.parse(body)]).toMatchObject([
      200,
      {
        total: 131,
        items: [
          { full_name: 'acme/app', url: `${gitea.url}/acme/app.git`, repo_id: added.body.id },
          { repo_id: null },
        ],
      },
    ])
    expect(await end()).toMatchObject({ status: 200, body: { url: gitea.url, webhook_secret: null } })
    expect(await list()).toMatchObject({ status: 200, body: { total: 0 } })
    // Otherwise its polls record that they used the connections of later tests.
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/repos/${added.body.id}`)).status).toBe(
      200,
    )
  })

  test.each(['gitea', 'forgejo'] as const)('a delivery of %s is taken, once', async as => {
    const url = await hook()
    const payload = commentBy('ada', '@agent-bot go')
    const first = await deliver(url, 'issue_comment', payload, { as, delivery: 'one' })
    expect([first.status, ForgeReceipt.strict().parse(first.body)]).toMatchObject([
      200,
      { duplicate: false, queued: true, reason: null },
    ])
    for (const delivery of ['one', 'two'])
      expect((await deliver(url, 'issue_comment', payload, { as, delivery })).body).toMatchObject({
        duplicate: true,
        queued: false,
      })
    const poll = await deliver(url, 'status', statusOf('a'.repeat(40)), { as })
    expect(poll.body).toMatchObject({ duplicate: false, queued: true })
    // The statuses as Gitea 1.23 reports them.
    const unnamed = await deliver(url, '', statusOf('b'.repeat(40)), { as, event_type: 'status' })
    expect(unnamed.body).toMatchObject({ duplicate: false, queued: true })
  })
})

describe('400', () => {
  test.each([
    [{ url: undefined }, 'body.url'],
    [{ url: 'git.example.org' }, 'body.url'],
    [{ url: 'https://a:b@git.example.org' }, 'body.url'],
    [{ url: 'https://git.example.org/?a' }, 'body.url'],
    [{ url: 'https://git.example.org/a%2Fb' }, 'body.url'],
    [{ token: undefined }, 'body.token'],
    [{ token: ' ' }, 'body.token'],
    [{ webhook_secret: 'short' }, 'body.webhook_secret'],
  ])('%j names what is wrong', async (body, field) => {
    expectProblem(await connect(body), 400, field)
    expect(await rows(app, 'select 1 from forges')).toEqual([])
  })

  test('without an address there is no connection to delete or to test', async () => {
    expectProblem(await app.call('DELETE', at('/gitea')), 400, 'query.url')
    expectProblem(await app.call('GET', at('/gitea/repositories')), 400, 'query.url')
  })

  test('a signed body that is not a delivery is rejected with the missing fields', async () => {
    const url = await hook()
    expectProblem(await deliver(url, '', {}, { as: 'gitea' }), 400, 'header.X-Gitea-Event')
    expectProblem(
      await deliver(url, 'push', {}, { as: 'gitea', delivery: 'no id' }),
      400,
      'header.X-Gitea-Delivery',
    )
    expectProblem(await deliver(url, 'push', null, { as: 'gitea', body: Buffer.from('{') }), 400, 'body')
  })
})

describe('401', () => {
  test('a forged delivery of any kind leaves nothing behind', async () => {
    const url = await hook()
    const before = await contents(app)
    const payload = commentBy('ada', '@agent-bot go', { id: 1_234 })
    for (const wrong of [
      { signature: null },
      { signature: '00' },
      { signature: '' },
      { secret: 'another secret' },
    ])
      expectProblem(await deliver(url, 'issue_comment', payload, { as: 'gitea', ...wrong }), 401)
    // As GitHub signs.
    expectProblem(await deliver(url, 'issue_comment', payload), 401)
    expect(await contents(app)).toEqual(before)
  })
})

describe('404', () => {
  test('a nonexistent connection, or one of another kind', async () => {
    expectProblem(await end(), 404)
    const url = await hook()
    expectProblem(await deliver(url.replace(/\d+$/, '424242'), 'push', {}, { as: 'gitea' }), 404)
    expectProblem(await deliver(url.replace('/gitea/', '/github/'), 'push', {}), 404)
    expectProblem(
      await app.call('DELETE', at(`/github?url=${encodeURIComponent(new URL(gitea.url).origin)}`)),
      404,
    )
  })
})

describe('409 and 503', () => {
  test('a token that the forge has revoked, one connection too many, and a secret that cannot be decrypted', async () => {
    await connect({ token: 'wrong' })
    expectProblem(await list(), 409)
    await connect()
    gitea.play('GET /user/repos', { kind: 'status', status: 429, retry_after: 9 })
    const busy = await list()
    expectProblem(busy, 503)
    expect(busy.headers.get('retry-after')).toBe('9')
    const url = await hook()
    await rows(app, `update forges set key_id = 'lost'`)
    expectProblem(await deliver(url, 'push', {}, { as: 'gitea' }), 409)
    await rows(
      app,
      `insert into forges (organization_id, kind, url, auth, key_id, sealed, updated_by)
        select $1, 'gitea', 'https://' || n, 'token', 'k', '', $2
        from generate_series(1, 9) n`,
      [app.org_id, app.user_id],
    )
    expectProblem(await connect({ url: `${gitea.url}/other` }), 409)
  })
})

describe('415', () => {
  test('forms are not accepted', async () => {
    expectProblem(
      await deliver(await hook(), 'push', {}, { as: 'gitea', type: 'application/x-www-form-urlencoded' }),
      415,
    )
  })
})
