import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  OrganizationDetail,
  OrganizationPage,
  OrganizationSettings,
} from '../../../src/contract/organizations/organizations.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertOrganization } from '../../../src/store/access/organizations.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addOrganization, addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { addOldMembership } from './people.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_INIT_ORG: 'Acme' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const bounds = { max_concurrent_runs: null, budget_usd_per_month: null, runs_per_month: null }
const defaults = {
  default_repo_id: null,
  default_model: null,
  reasoning_effort: null,
  review: null,
  agent_permissions: null,
  branch_prefix: null,
  approval_paths: null,
  rules: null,
  ...bounds,
}
const both = { enable_pr_creation: true, enable_rules_detection: true }
const path = (org_id = app.org_id) => `/v1/organizations/${org_id}`
const patch = (body: unknown, org_id = app.org_id) => app.call('PATCH', path(org_id), body)
const as = (token: string) => ({ authorization: `Bearer ${token}` })

describe('GET /v1/organizations', () => {
  const list = (query = '') => app.call('GET', `/v1/organizations${query}`)

  test('200: those of the caller, oldest first, page by page', async () => {
    expect(OrganizationPage.strict().parse((await list()).body)).toEqual({
      items: [{ id: app.org_id, name: 'Acme', settings: both }],
      total: 1,
      page: 1,
      size: 100,
      pages: 1,
    })
    const added: number[] = []
    for (let i = 0; i < 4; i++) {
      const { id } = await insertOrganization(app.db, `Org ${i}`)
      await addOldMembership(app, id, app.user_id, 'READER')
      added.push(id)
    }
    const ids = async (query: string) => (await list(query)).body.items.map((item: { id: number }) => item.id)
    expect(await ids('')).toEqual([app.org_id, ...added])
    expect(await ids('?skip=1&limit=2')).toEqual(added.slice(0, 2))
    expect(await ids('?page=2&size=2')).toEqual(added.slice(1, 3))
    expect((await list('?page=3&size=2')).body).toMatchObject({
      items: [{ id: added[3] }],
      total: 5,
      page: 3,
      size: 2,
      pages: 3,
    })
    expect((await list('?skip=999999999')).body).toMatchObject({ items: [], total: 5 })
  })
})

describe('POST /v1/organizations', () => {
  const create = (body: unknown, token = app.token) => app.call('POST', '/v1/organizations', body, as(token))

  test('200: a new organization, whose ADMIN is the caller', async () => {
    const { status, body } = await create({ name: '  New  ' })
    expect(status).toBe(200)
    expect(OrganizationDetail.strict().parse(body)).toEqual({
      id: body.id,
      name: 'New',
      settings: both,
      ...defaults,
    })
    expect((await app.call('GET', path(body.id))).body).toEqual(body)
    expect((await app.call('GET', `${path(body.id)}/users`)).body.items).toMatchObject([
      { id: app.user_id, role: 'ADMIN' },
    ])
    expectProblem(await app.call('GET', path(body.id), undefined, as(other.token)), 403)
  })

  test('400: an invalid name', async () => {
    for (const name of [undefined, null, '', '  ', 1, 'x'.repeat(101), 'a\0b'])
      expectProblem(await create({ name }), 400, 'body.name')
  })

  test('403: a user who is not ADMIN of any organization', async () => {
    const member = await addOrganization(app, 'Junior')
    await rows(app, `update memberships set role = 'MEMBER' where user_id = $1`, [member.user_id])
    const before = await contents(app)
    expectProblem(await create({ name: 'x' }, member.token), 403)
    expect((await contents(app)).organizations).toBe(before.organizations)
  })

  test('403: a token without org:admin, or bound to one organization', async () => {
    const given = {
      user_id: app.user_id,
      kind: 'personal',
      wire_profile: 'standard',
      expires_in_seconds: null,
    } as const
    const bounds = [{ scopes: ['org:read'] }, { organization_id: app.org_id }]
    for (const [n, bound] of bounds.entries()) {
      const token = `a-bounded-token-of-the-organizations-test-${n}`
      await insertToken(app.db, { ...given, ...bound, name: 't', digest: digest(token) })
      expectProblem(await create({ name: 'x' }, token), 403)
    }
  })

  test('leaves an audit entry in the new organization', async () => {
    const { body } = await create({ name: 'Audited' })
    const found = await rows(
      app,
      `select action, user_id, target_id, detail
        from audit_entries
        where organization_id = $1`,
      [body.id],
    )
    const text = {
      action: 'organization.created',
      user_id: app.user_id,
      target_id: `${body.id}`,
      detail: '{"name":"Audited"}',
    }
    expect(found).toEqual([text])
  })
})

describe('GET and PATCH /v1/organizations/{org_id}, GET …/settings', () => {
  test('200: set values are returned, and absent keys are unchanged', async () => {
    const { body: empty } = await app.call('GET', path())
    expect(OrganizationDetail.strict().parse(empty)).toEqual({
      id: app.org_id,
      name: 'Acme',
      settings: both,
      ...defaults,
    })
    const changes = [
      { name: 'Acme Corp' },
      { settings: { enable_pr_creation: false } },
      { settings: { enable_rules_detection: false } },
      { default_repo_id: app.repo_id },
      { default_model: 'scripted/playbook', reasoning_effort: 'high', review: 'rules' },
      { agent_permissions: 'ask', branch_prefix: 'bots/' },
      { rules: 'Write tests.\nUse "quotes" and 😀.' },
      { approval_paths: ['infra/', '*.sql'] },
      { max_concurrent_runs: 3 },
      { budget_usd_per_month: '12.5' },
      { runs_per_month: 0 },
      {},
    ]
    let wanted = empty
    for (const change of changes) {
      wanted = {
        ...wanted,
        ...change,
        settings: { ...wanted.settings, ...('settings' in change && change.settings) },
      }
      const { status, body } = await patch(change)
      expect({ status, body: OrganizationDetail.strict().parse(body) }).toEqual({ status: 200, body: wanted })
      expect((await app.call('GET', path())).body).toEqual(wanted)
      const { id: _id, name: _name, settings, ...rest } = wanted
      expect(OrganizationSettings.strict().parse((await app.call('GET', `${path()}/settings`)).body)).toEqual(
        { ...settings, ...rest },
      )
    }
    const back = { name: 'Acme', settings: both, ...defaults }
    expect((await patch(back)).body).toEqual({ id: app.org_id, ...back })
    expect((await patch({ rules: '  ', approval_paths: [] })).body).toMatchObject({
      rules: null,
      approval_paths: null,
    })
    expect((await patch({ budget_usd_per_month: 0.1 })).body).toMatchObject({ budget_usd_per_month: '0.1' })
    await patch({ budget_usd_per_month: null })
    const audited = await rows<{ detail: string }>(
      app,
      `select detail
        from audit_entries
        where action = 'organization.updated'
        order by id`,
    )
    expect(audited.length).toBe(changes.length + 4)
    expect(JSON.parse(audited[6]?.detail ?? '')).toEqual({ rules: 'changed' })
  })

  test('400: errors are named, and nothing is stored', async () => {
    const before = await contents(app)
    const wrong: [object, string][] = [
      [{ name: '' }, 'body.name'],
      [{ name: null }, 'body.name'],
      [{ settings: { enable_pr_creation: 'yes' } }, 'body.settings.enable_pr_creation'],
      [{ settings: null }, 'body.settings'],
      [{ default_repo_id: '1' }, 'body.default_repo_id'],
      [{ default_model: 'nobody/knows' }, 'body.default_model'],
      [{ reasoning_effort: 'hgih' }, 'body.reasoning_effort'],
      [{ review: 'none' }, 'body.review'],
      [{ agent_permissions: 'always' }, 'body.agent_permissions'],
      [{ approval_paths: [''] }, 'body.approval_paths.0'],
      [{ approval_paths: ['x'.repeat(101)] }, 'body.approval_paths.0'],
      [{ approval_paths: Array(51).fill('x') }, 'body.approval_paths'],
      [{ approval_paths: 'infra/' }, 'body.approval_paths'],
      [{ rules: 'x'.repeat(20_001) }, 'body.rules'],
      [{ rules: 'a\0b' }, 'body.rules'],
      ...[0, -1, 1.5, '1', 10_001].map((n): [object, string] => [
        { max_concurrent_runs: n },
        'body.max_concurrent_runs',
      ]),
      ...[-1, '-1', '1e3', 'x', 1e9].map((n): [object, string] => [
        { budget_usd_per_month: n },
        'body.budget_usd_per_month',
      ]),
      ...[-1, 1.5, '1', 1e10].map((n): [object, string] => [{ runs_per_month: n }, 'body.runs_per_month']),
    ]
    for (const [body, field] of wrong) expectProblem(await patch({ name: 'changed', ...body }), 400, field)
    expect(await contents(app)).toEqual(before)
  })

  test('403: another organization', async () => {
    expectProblem(await app.call('GET', path(other.org_id)), 403)
    expectProblem(await app.call('GET', `${path(other.org_id)}/settings`), 403)
    expectProblem(await patch({ name: 'theirs' }, other.org_id), 403)
  })

  test("404: another organization's repository as the default, like a nonexistent one", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await patch({ name: 'changed', default_repo_id: other.repo_id }), 404)
    const unknown = expectProblem(await patch({ name: 'changed', default_repo_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('settings that runs use', () => {
  test('the default repository is used by a run that names none', async () => {
    const id = await putRepository(app, 'second')
    const create = () => app.call('POST', `${path()}/agent/run`, { prompt: 'x' })
    expectProblem(await create(), 400, 'body.repo_id')
    await patch({ default_repo_id: id })
    expect((await create()).body).toMatchObject({ repo_id: id })
    await patch({ default_repo_id: app.repo_id })
    expect((await create()).body).toMatchObject({ repo_id: app.repo_id })
  })

  test('the default model is used by a run that names none, and is the one in the list of models', async () => {
    await using two = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/a',
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    })
    const url = `/v1/organizations/${two.org_id}`
    expect(await createRun(two, { prompt: 'x' })).toMatchObject({ model: 'openai-compatible/a' })
    await two.call('PATCH', url, { default_model: 'scripted/playbook' })
    expect((await two.call('GET', `${url}/models`)).body).toMatchObject({
      default_model: 'scripted/playbook',
    })
    expect(await createRun(two, { prompt: 'x' })).toMatchObject({ model: 'scripted/playbook' })
    expect(await createRun(two, { prompt: 'x', model: 'openai-compatible/a' })).toMatchObject({
      model: 'openai-compatible/a',
    })
    await rows(two, `update organizations set default_model = 'gone/model'`)
    const problem = expectProblem(
      await two.call('POST', `${url}/agent/run`, { prompt: 'x' }),
      400,
      'body.model',
    )
    expect(problem.detail).toContain('gone/model')
  })

  test('enable_pr_creation is the default of auto_create_pr', async () => {
    const flag = async (body: object) => {
      const { id } = await createRun(app, { prompt: 'x', repo_id: app.repo_id, ...body })
      return (
        await rows<{ auto_create_pr: boolean }>(app, 'select auto_create_pr from runs where id = $1', [id])
      )[0]?.auto_create_pr
    }
    expect(await flag({})).toBe(true)
    await patch({ settings: { enable_pr_creation: false } })
    expect(await flag({})).toBe(false)
    expect(await flag({ auto_create_pr: true })).toBe(true)
    await patch({ settings: { enable_pr_creation: true } })
  })
})

test('a user does not become a member of an organization that another user creates', async () => {
  const { id } = await insertUser(app.db, { full_name: 'x' })
  await insertMembership(app.db, app.org_id, id, 'MEMBER')
  const { body } = await app.call('POST', '/v1/organizations', { name: 'Private' })
  expect((await app.call('GET', `${path(body.id)}/users`)).body).toMatchObject({ total: 1 })
})
