import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AppManifest } from '../../../src/contract/repositories/forges.ts'
import { deliver } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addOrganization } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addOldMembership, addPerson, requestWith } from '../members/people.ts'

let app: App
let github: FakeGitHub
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  github = await startFakeGitHub()
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})

const begin = (body: Record<string, unknown> = {}) =>
  app.call('POST', `/v1/organizations/${app.org_id}/integrations/github/app`, { url: github.url, ...body })
const stateOf = async () => new URL((await begin()).body.open_url).searchParams.get('state') ?? ''
const visit = (path: string) => app.call('GET', path, undefined, { authorization: '' })
const pathIn = (org_id: number) => `/v1/organizations/${org_id}/integrations/github/app`
/** What the page of the web interface requests for the address to which GitHub redirects. */
const view = (state: string, token = app.token, org_id = app.org_id) =>
  requestWith(app, token, 'GET', `${pathIn(org_id)}?${new URLSearchParams({ state })}`)
const connect = (
  state: string,
  { code = 'code-of-the-manifest', token = app.token, org_id = app.org_id } = {},
) => requestWith(app, token, 'POST', `${pathIn(org_id)}/connect`, { state, code })

describe('200', () => {
  test('a page redirects to GitHub with the permissions of the app, and back: the app is connected with its webhooks', async () => {
    const { status, body } = await begin({ owner: 'acme', name: 'acme-agents' })
    expect(status).toBe(200)
    expect(AppManifest.strict().parse(body).open_url).toContain(
      `${app.base_url}/hooks/github-app/manifest?state=`,
    )
    const opened = new URL(body.open_url)
    const shown = await visit(opened.pathname + opened.search)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(shown.headers.get('content-security-policy')).toContain(`form-action ${github.url}`)
    const value = (name: RegExp) =>
      (name.exec(shown.body)?.[1] ?? '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    expect(value(/action="([^"]+)"/)).toMatch(
      new RegExp(`^${github.url}/organizations/acme/settings/apps/new\\?state=`),
    )
    const manifest = JSON.parse(value(/name="manifest" value="([^"]+)"/))
    expect(manifest).toMatchObject({
      name: 'acme-agents',
      public: false,
      redirect_url: `${app.base_url}/github-app`,
      default_permissions: { contents: 'write', pull_requests: 'write' },
    })

    const state = opened.searchParams.get('state') ?? ''
    expect((await view(state)).body).toEqual({
      url: github.url,
      owner: 'acme',
      name: 'acme-agents',
      started_by: app.user_id,
      expires_at: body.expires_at,
    })
    const install_url = `${github.url}/apps/careful-agent/installations/new`
    expect(await connect(state)).toMatchObject({ status: 200, body: { name: 'careful-agent', install_url } })
    const { integrations } = (await app.call('GET', `/v1/organizations/${app.org_id}/integrations`)).body
    expect(integrations).toMatchObject([
      { active: true, metadata: { auth: 'app', app_id: github.app.id, login: 'careful-agent[bot]' } },
    ])
    const { webhook_url } = integrations[0].metadata
    expect(
      (await deliver(webhook_url, 'ping', {}, { secret: 'made-by-github-for-the-webhooks' })).status,
    ).toBe(200)
    expect(await rows(app, `select 1 from audit_entries where action = 'forge.connected'`)).toHaveLength(1)
    // The link is used up.
    expectProblem(await connect(state), 404)
    expectProblem(await view(state), 404)
  })

  test('another administrator may connect it, sees who began, and is named in the audit log', async () => {
    const state = await stateOf()
    const other = await addPerson(app, 'ADMIN')
    expect((await view(state, other.token)).body).toMatchObject({ started_by: app.user_id, name: 'agentrun' })
    expect((await connect(state, { token: other.token })).status).toBe(200)
    const [entry] = await rows(
      app,
      `select user_id, detail
        from audit_entries
        where action = 'forge.connected'
        order by id desc`,
    )
    expect(entry).toMatchObject({ user_id: other.user_id })
    expect(JSON.parse(entry?.detail)).toMatchObject({ auth: 'app', started_by: app.user_id })
  })
})

describe('400', () => {
  test('missing fields, and an invalid address of a forge, are named', async () => {
    expectProblem(await begin({ url: 'github.com' }), 400, 'body.url')
    expectProblem(await begin({ name: 'x'.repeat(35) }), 400, 'body.name')
    expectProblem(await visit('/hooks/github-app/manifest'), 400, 'query.state')
    expectProblem(await connect(await stateOf(), { code: '' }), 400, 'body.code')
  })
})

describe('401 and 404', () => {
  test('a forged or expired link, or one of another organization, is refused, and nothing is written', async () => {
    const state = await stateOf()
    const [organization, ...rest] = state.split('.')
    const middle = state.length - 40
    const altered = `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`
    const before = await contents(app)
    for (const wrong of ['x', `${Number(organization) + 1}.${rest.join('.')}`, altered]) {
      expectProblem(await visit(`/hooks/github-app/manifest?state=${encodeURIComponent(wrong)}`), 401)
      expectProblem(await view(wrong), 404)
      expectProblem(await connect(wrong), 404)
    }
    const now = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(now + 3_601_000)
    expectProblem(await connect(state), 404)
    vi.restoreAllMocks()
    expect(await contents(app)).toEqual(before)
  })
})

describe('401 and 403', () => {
  test('a person who may not connect forges here connects nothing, and the person who began still can', async () => {
    const state = await stateOf()
    const stranger = await addOrganization(app, 'Strangers')
    const manager = await addPerson(app, 'MANAGER')
    const own = await addOrganization(app, 'Second')
    await addOldMembership(app, own.org_id, app.user_id, 'ADMIN')
    const bound = await addCaller(app, app.user_id, { organization_id: own.org_id })
    const before = await contents(app)
    expectProblem(await connect(state, { token: '' }), 401)
    for (const token of [stranger.token, manager.token, bound.token]) {
      expectProblem(await view(state, token), 403)
      expectProblem(await connect(state, { token }), 403)
    }
    expectProblem(await connect(state, { org_id: own.org_id }), 404)
    expect(await contents(app)).toEqual(before)
    expect((await connect(state)).status).toBe(200)
  })
})

describe('409 and 503', () => {
  test('the response of GitHub to the code', async () => {
    expectProblem(await connect(await stateOf(), { code: 'another' }), 409)
    github.play('POST /app-manifests/{code}/conversions', { kind: 'status', status: 502 })
    expectProblem(await connect(await stateOf()), 503)
  })
})
