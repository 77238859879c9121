import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Integrations } from '../../../src/contract/organizations/integrations.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())
const org = (path: string) => `/v1/organizations/${app.org_id}${path}`

describe('200', () => {
  test('listIntegrations: an empty list, with the field names of the public API', async () => {
    const { status, body } = await app.call('GET', org('/integrations'))
    expect([status, Integrations.strict().parse(body)]).toEqual([
      200,
      {
        organization_id: app.org_id,
        organization_name: 'My organization',
        integrations: [],
        total_active_integrations: 0,
      },
    ])
  })

  test('listMcpProviders and getOAuthStatus: nothing is connected', async () => {
    expect((await app.call('GET', '/v1/mcp-providers')).body).toEqual([])
    const { body } = await app.call('GET', `/v1/oauth/tokens/status?org_id=${app.org_id}`)
    expect(body).toEqual([])
  })
})

describe('400', () => {
  test.each([
    ['GET', '/v1/oauth/tokens/status', undefined, 'query.org_id'],
    ['GET', '/v1/oauth/tokens/status?org_id=x', undefined, 'query.org_id'],
    ['POST', '/v1/oauth/tokens/revoke?org_id=1', undefined, 'query.provider'],
    ['POST', '/v1/slack-connect/generate-token', {}, 'body.org_id'],
  ])('%s %s names what is missing', async (method, path, body, field) => {
    expectProblem(await app.call(method, path, body), 400, field)
  })
})

describe('403', () => {
  test('an organization in query or body is as closed as one in the path', async () => {
    for (const id of [other.org_id, 999_999]) {
      expectProblem(await app.call('GET', `/v1/oauth/tokens/status?org_id=${id}`), 403)
      expectProblem(await app.call('POST', `/v1/oauth/tokens/revoke?org_id=${id}&provider=x`), 403)
      expectProblem(await app.call('POST', '/v1/slack-connect/generate-token', { org_id: id }), 403)
    }
  })
})

describe('404', () => {
  test('revokeOAuthToken: no connection', async () => {
    expectProblem(await app.call('POST', `/v1/oauth/tokens/revoke?org_id=${app.org_id}&provider=github`), 404)
  })
})

describe('501', () => {
  test('what this version does not support is reported as such, and nothing is written', async () => {
    const before = await contents(app)
    const { code } = expectProblem(
      await app.call('POST', '/v1/slack-connect/generate-token', { org_id: app.org_id }),
      501,
    )
    expect(code).toBe('not_available')
    expect(await contents(app)).toEqual(before)
  })
})
