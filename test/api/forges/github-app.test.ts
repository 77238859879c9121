import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppManifest } from '../../../src/contract/repositories/forges.ts'
import { deliver } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

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
const callback = (state: string, code = 'code-of-the-manifest') =>
  visit(`/hooks/github-app/callback?state=${encodeURIComponent(state)}&code=${code}`)

describe('200', () => {
  test('a page redirects to GitHub with the permissions of the app, and back: the app is connected with its webhooks', async () => {
    const { status, body } = await begin({ owner: 'acme', name: 'acme-agents' })
    expect(status).toBe(200)
    expect(AppManifest.strict().parse(body).open_url).toContain(`${app.base_url}/hooks/github-app/manifest?state=`)
    const opened = new URL(body.open_url)
    const shown = await visit(opened.pathname + opened.search)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(shown.headers.get('content-security-policy')).toContain(`form-action ${github.url}`)
    const value = (name: RegExp) => (name.exec(shown.body)?.[1] ?? '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    expect(value(/action="([^"]+)"/)).toMatch(new RegExp(`^${github.url}/organizations/acme/settings/apps/new\\?state=`))
    const manifest = JSON.parse(value(/name="manifest" value="([^"]+)"/))
    expect(manifest).toMatchObject({
      ...{ name: 'acme-agents', public: false, redirect_url: `${app.base_url}/hooks/github-app/callback` },
      default_permissions: { contents: 'write', pull_requests: 'write' },
    })

    const back = await callback(opened.searchParams.get('state') ?? '')
    expect([back.status, back.body]).toEqual([200, expect.stringContaining(`${github.url}/apps/careful-agent/installations/new`)])
    const { integrations } = (await app.call('GET', `/v1/organizations/${app.org_id}/integrations`)).body
    expect(integrations).toMatchObject([{ active: true, metadata: { auth: 'app', app_id: github.app.id, login: 'careful-agent[bot]' } }])
    const { webhook_url } = integrations[0].metadata
    expect((await deliver(webhook_url, 'ping', {}, { secret: 'made-by-github-for-the-webhooks' })).status).toBe(200)
    expect(await rows(app, `select 1 from audit_entries where action = 'forge.connected'`)).toHaveLength(1)
    // The link is used up.
    expectProblem(await callback(opened.searchParams.get('state') ?? ''), 401)
  })
})

describe('400', () => {
  test('missing fields, and an invalid address of a forge, are named', async () => {
    expectProblem(await begin({ url: 'github.com' }), 400, 'body.url')
    expectProblem(await begin({ name: 'x'.repeat(35) }), 400, 'body.name')
    expectProblem(await visit('/hooks/github-app/manifest'), 400, 'query.state')
    expectProblem(await visit(`/hooks/github-app/callback?state=${await stateOf()}`), 400, 'query.code')
  })
})

describe('401', () => {
  test('a forged or expired link, or one of another organization, is refused, and nothing is written', async () => {
    const state = await stateOf()
    const [organization, ...rest] = state.split('.')
    const middle = state.length - 40
    const altered = `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`
    const before = await contents(app)
    for (const wrong of ['x', `${Number(organization) + 1}.${rest.join('.')}`, altered]) {
      expectProblem(await visit(`/hooks/github-app/manifest?state=${encodeURIComponent(wrong)}`), 401)
      expectProblem(await callback(wrong), 401)
    }
    expect(await contents(app)).toEqual(before)
  })
})

describe('409 and 503', () => {
  test('the response of GitHub to the code', async () => {
    expectProblem(await callback(await stateOf(), 'another'), 409)
    github.play('POST /app-manifests/{code}/conversions', { kind: 'status', status: 502 })
    expectProblem(await callback(await stateOf()), 503)
  })
})
