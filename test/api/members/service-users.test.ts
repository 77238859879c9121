import { describe, expect, test } from 'vitest'
import { ServiceUser, ServiceUserPage } from '../../../src/contract/organizations/members.ts'
import { rows } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from './people.ts'
import { startOrganizations } from './start-organizations.ts'

const { app, other, admin } = await startOrganizations()

const make = (body: unknown, caller = admin) => caller.request('POST', '/service-users', body)
async function created(role = 'MEMBER', name = 'bot') {
  const response = await make({ name, role })
  expect(response.status).toBe(200)
  return ServiceUser.strict().parse(response.body)
}
const remove = (caller: Caller, id: number) => caller.request('DELETE', `/service-users/${id}`)

describe('POST …/service-users', () => {
  test('200: a member with its role and without an address', async () => {
    const user = await created('MANAGER', ' release bot ')
    expect(user).toMatchObject({ name: 'release bot', role: 'MANAGER', organization_id: app.org_id })
    const { body } = await admin.request('GET', `/users/${user.id}`)
    expect(body).toMatchObject({ id: user.id, email: null, full_name: 'release bot', role: 'MANAGER' })
  })

  test('200: an administrator creates its tokens, and it uses them like any user', async () => {
    const user = await created()
    const { body: token } = await admin.request('POST', '/tokens', { name: 'ci', user_id: user.id })
    const run = await requestWith(app, token.token, 'POST', `/v1/organizations/${app.org_id}/agent/run`, {
      prompt: 'x',
    })
    expect(run.body).toMatchObject({ status: 'queued', user_id: user.id })
  })

  test('400: an invalid name or role', async () => {
    for (const name of [undefined, ' ', 'x'.repeat(101)])
      expectProblem(await make({ name, role: 'READER' }), 400, 'body.name')
    for (const role of [undefined, 'BOT']) expectProblem(await make({ name: 'x', role }), 400, 'body.role')
  })

  test('403: every role but ADMIN, and a role that allows more than the token does', async () => {
    const before = await contents(app)
    const manager = await addPerson(app, 'MANAGER')
    const reading = await addCaller(app, app.user_id, { scopes: ['org:read', 'org:admin'] })
    const people = await contents(app)
    expectProblem(await make({ name: 'x', role: 'READER' }, manager), 403)
    expectProblem(await make({ name: 'x', role: 'READER' }, reading), 403, 'body.role')
    expect(await contents(app)).toEqual(people)
    expect(people).not.toEqual(before)
  })
})

describe('GET …/service-users', () => {
  test('200: oldest first, page by page, no people and none of another organization', async () => {
    const theirs = await addCaller(app, other.user_id, {}, other.org_id)
    await make({ name: 'theirs', role: 'READER' }, theirs)
    const [first, second] = [await created(), await created()]
    const { status, body } = await admin.request('GET', '/service-users')
    expect(status).toBe(200)
    const page = ServiceUserPage.strict().parse(body)
    expect(page.items.slice(-2)).toEqual([first, second])
    expect(JSON.stringify(page)).not.toContain('theirs')
    expect((await admin.request('GET', `/service-users?skip=${page.total - 1}&limit=1`)).body).toMatchObject({
      items: [second],
      size: 1,
    })
  })
})

describe('DELETE …/service-users/{user_id}', () => {
  test('200: it is deleted, its tokens are revoked, its runs remain and name it', async () => {
    const user = await created()
    const { body: token } = await admin.request('POST', '/tokens', { name: 'ci', user_id: user.id })
    const { body: run } = await requestWith(
      app,
      token.token,
      'POST',
      `/v1/organizations/${app.org_id}/agent/run`,
      { prompt: 'x' },
    )
    const { status, body } = await remove(admin, user.id)
    expect([status, body]).toEqual([200, user])
    expectProblem(await requestWith(app, token.token, 'GET', '/v1/users/me'), 401)
    expect((await admin.request('GET', `/agent/run/${run.id}`)).body).toMatchObject({ user_id: user.id })
    const { items } = (await admin.request('GET', '/service-users')).body
    expect(items.map((item: { id: number }) => item.id)).not.toContain(user.id)
    expectProblem(await admin.request('POST', '/tokens', { name: 'again', user_id: user.id }), 404)
    expectProblem(await remove(admin, user.id), 404)
    const [act] = await rows<{ detail: string }>(
      app,
      `select detail
        from audit_entries
        where action = 'service_user.deleted' and target_id = $1`,
      [`${user.id}`],
    )
    expect(JSON.parse(act?.detail ?? '')).toEqual({ name: 'bot', tokens_revoked: [token.id] })
  })

  test('200: the last service user that is ADMIN, because a person is ADMIN', async () => {
    expect((await remove(admin, (await created('ADMIN')).id)).status).toBe(200)
  })

  test('404: a person, a service user of another organization, and a nonexistent one, with the same message', async () => {
    const theirs = await addCaller(app, other.user_id, {}, other.org_id)
    const { body } = await make({ name: 'theirs', role: 'READER' }, theirs)
    const before = await contents(app)
    const words = new Set<string>()
    for (const id of [app.user_id, body.id, 424_242])
      words.add(
        JSON.stringify({ ...expectProblem(await remove(admin, id), 404), request_id: '', instance: '' }),
      )
    expect(words.size).toBe(1)
    expect(await contents(app)).toEqual(before)
  })

  test('403: every role but ADMIN', async () => {
    const { id } = await created()
    expectProblem(await remove(await addPerson(app, 'MANAGER'), id), 403)
  })
})
