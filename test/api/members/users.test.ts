import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CliRules, Me, User, UserPage } from '../../../src/contract/organizations/users.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
let added: number[]
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  added = []
  for (const role of ['MANAGER', 'MEMBER', 'READER'] as const) {
    const { id } = await insertUser(app.db, { full_name: role })
    await insertMembership(app.db, app.org_id, id, role)
    added.push(id)
  }
})
afterAll(() => app[Symbol.asyncDispose]())

const users = (rest = '', org_id = app.org_id) => app.call('GET', `/v1/organizations/${org_id}/users${rest}`)
const as = (token: string) => ({ authorization: `Bearer ${token}` })

describe.each(['/v1/users/me', '/v1/user'])('GET %s', path => {
  test('200: the caller, with empty texts instead of null for generated clients', async () => {
    const { status, body } = await app.call('GET', path)
    expect(status).toBe(200)
    expect(Me.strict().parse(body)).toEqual({
      custom_prompt: null,
      id: app.user_id,
      email: null,
      github_user_id: '',
      github_username: '',
      avatar_url: null,
      full_name: 'Administrator',
      role: 'ADMIN',
      is_admin: true,
    })
  })

  test('200: each token is its own user', async () => {
    const { body } = await app.call('GET', path, undefined, as(other.token))
    expect(body).toMatchObject({ id: other.user_id, full_name: 'Admin of Other' })
  })
})

describe('GET …/users', () => {
  test('200: those of the organization, oldest first, page by page, and no user of another one', async () => {
    const { status, body } = await users()
    expect(status).toBe(200)
    UserPage.strict().parse(body)
    expect(body).toMatchObject({ total: 4, page: 1, size: 100, pages: 1 })
    expect(body.items.map((user: { id: number }) => user.id)).toEqual([app.user_id, ...added])
    const second = (await users('?skip=1&limit=2')).body
    expect(second.items.map((user: { role: string }) => user.role)).toEqual(['MANAGER', 'MEMBER'])
    expect((await users('?page=4&size=1')).body).toMatchObject({
      items: [{ id: added[2] }],
      total: 4,
      page: 4,
      size: 1,
      pages: 4,
    })
  })

  test('400: an invalid page', async () => void expectProblem(await users('?limit=101'), 400, 'query.limit'))
  test('403: another organization', async () => void expectProblem(await users('', other.org_id), 403))
})

describe('GET …/users/{user_id}', () => {
  test('200: a user, with the role in this organization and not in another one', async () => {
    const id = added[1] ?? 0
    await insertMembership(app.db, other.org_id, id, 'ADMIN')
    const here = await users(`/${id}`)
    expect(here.status).toBe(200)
    expect(User.strict().parse(here.body)).toMatchObject({ id, role: 'MEMBER', is_admin: false })
    const there = await app.call(
      'GET',
      `/v1/organizations/${other.org_id}/users/${id}`,
      undefined,
      as(other.token),
    )
    expect(there.body).toMatchObject({ id, role: 'ADMIN', is_admin: true })
  })

  test('400: an invalid id', async () => {
    for (const id of ['me', '01', '-1', '1.0']) expectProblem(await users(`/${id}`), 400, 'path.user_id')
  })

  test('403: another organization', async () =>
    void expectProblem(await users(`/${other.user_id}`, other.org_id), 403))

  test('404: a user of another organization, with the message for a nonexistent one', async () => {
    const foreign = expectProblem(await users(`/${other.user_id}`), 404)
    expect(foreign.message).toBe('User not found.')
    const unknown = expectProblem(await users('/424242'), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
  })
})

describe('PATCH /v1/users/me', () => {
  const patch = (body: unknown, token = other.token) => app.call('PATCH', '/v1/users/me', body, as(token))

  test('200: set values are returned, absent keys are unchanged, null clears', async () => {
    const before = (await app.call('GET', '/v1/users/me', undefined, as(other.token))).body
    let wanted = before
    for (const change of [
      { full_name: 'Ada' },
      { avatar_url: 'https://x.example/a.png' },
      { custom_prompt: 'Be kind.\n😀' },
      { github_username: 'ada-l' },
      { github_user_id: '583231' },
      {},
    ]) {
      wanted = { ...wanted, ...change }
      const { status, body } = await patch(change)
      expect({ status, body: Me.strict().parse(body) }).toEqual({ status: 200, body: wanted })
      expect((await app.call('GET', '/v1/users/me', undefined, as(other.token))).body).toEqual(wanted)
    }
    const emptied = await patch({
      full_name: null,
      avatar_url: null,
      custom_prompt: '  ',
      github_username: null,
      github_user_id: null,
    })
    expect(emptied.body).toEqual({ ...before, full_name: null })
  })

  test('200: the GitHub account is shown in every organization of the user and is in its audit log', async () => {
    const set = await patch({ github_username: 'Ada-L', github_user_id: '583231' })
    const found = await rows(
      app,
      `select user_id, detail
        from audit_entries
        where organization_id = $1 and action = 'user.updated'`,
      [other.org_id],
    )
    expect(found.at(-1)).toMatchObject({ user_id: other.user_id, detail: expect.stringContaining('583231') })
    const shown = await app.call(
      'GET',
      `/v1/organizations/${other.org_id}/users/${other.user_id}`,
      undefined,
      as(other.token),
    )
    for (const { body } of [set, shown])
      expect(body).toMatchObject({ github_username: 'Ada-L', github_user_id: '583231' })
    await patch({ github_username: null, github_user_id: null })
    const me = await app.call('GET', '/v1/users/me', undefined, as(other.token))
    expect(me.body).toMatchObject({ github_username: '', github_user_id: '' })
  })

  test('400: errors are named', async () => {
    const wrong: [object, string][] = [
      [{ full_name: '' }, 'body.full_name'],
      [{ full_name: 1 }, 'body.full_name'],
      [{ avatar_url: 'javascript:alert(1)' }, 'body.avatar_url'],
      [{ avatar_url: 'x' }, 'body.avatar_url'],
      ...['', '@ada', '-ada', 'a b', 'x'.repeat(40), 7].map((github_username): [object, string] => [
        { github_username },
        'body.github_username',
      ]),
      ...['', '0', 'x', '1.5', 583231].map((github_user_id): [object, string] => [
        { github_user_id },
        'body.github_user_id',
      ]),
      [{ custom_prompt: 'x'.repeat(20_001) }, 'body.custom_prompt'],
    ]
    for (const [body, field] of wrong) expectProblem(await patch(body), 400, field)
  })

  test('403: a token that is bound to one organization does not change the instructions for agents in others', async () => {
    const token = 'a-bound-token-of-the-users-test'
    const given = {
      user_id: app.user_id,
      kind: 'personal',
      name: 't',
      wire_profile: 'standard',
      expires_in_seconds: null,
    } as const
    await insertToken(app.db, { ...given, digest: digest(token), organization_id: app.org_id })
    expectProblem(await patch({ custom_prompt: 'x' }, token), 403)
  })
})

describe('GET …/cli/rules', () => {
  const rules = (token = app.token, org_id = app.org_id) =>
    app.call('GET', `/v1/organizations/${org_id}/cli/rules`, undefined, as(token))

  test('200: the rules of the organization and the text of the caller, null if absent', async () => {
    const { status, body } = await rules()
    expect({ status, body: CliRules.strict().parse(body) }).toEqual({
      status: 200,
      body: { organization_rules: null, user_custom_prompt: null },
    })
    await app.call('PATCH', `/v1/organizations/${app.org_id}`, { rules: 'No tabs.' })
    await app.call('PATCH', '/v1/users/me', { custom_prompt: 'Be kind.' })
    expect((await rules()).body).toEqual({ organization_rules: 'No tabs.', user_custom_prompt: 'Be kind.' })
    expect((await rules(other.token, other.org_id)).body).toEqual({
      organization_rules: null,
      user_custom_prompt: null,
    })
  })

  test('403: another organization', async () => void expectProblem(await rules(app.token, other.org_id), 403))
})
