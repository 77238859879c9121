import { describe, expect, test } from 'vitest'
import { type AuditEntry, AuditPage } from '../../../src/contract/organizations/audit-log.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson } from '../members/people.ts'
import { accept, sessionToken } from '../members/start-members.ts'
import { startOrganizations } from '../members/start-organizations.ts'

const { app, other, admin } = await startOrganizations()

const log = (query = '', caller = admin) => caller.request('GET', `/audit-log${query}`)
const actions = async (query: string) => (await log(query)).body.items.map((item: AuditEntry) => item.action)

describe('200', () => {
  test('contains who did what to what, when, with which token and in which request, newest first', async () => {
    const { body: invitation } = await admin.request('POST', '/members', {
      email: 'ada@example.org',
      role: 'READER',
    })
    const { cookie } = await accept(app, invitation.invitation_link)
    const id = (await sessionToken(app, cookie)).body.user_id
    const changed = await admin.request('PATCH', `/members/${id}`, { role: 'MEMBER' })
    const { status, body } = await log()
    expect(status).toBe(200)
    AuditPage.strict().parse(body)
    const [first, second, third] = body.items as AuditEntry[]
    expect(first).toEqual({
      id: expect.any(Number),
      organization_id: app.org_id,
      created_at: expect.stringMatching(/Z$/),
      user_id: app.user_id,
      token_id: admin.token_id,
      action: 'member.updated',
      target_type: 'member',
      target_id: `${id}`,
      detail: { role: { from: 'READER', to: 'MEMBER' } },
      request_id: changed.headers.get('x-request-id'),
    })
    expect(second).toMatchObject({
      action: 'member.added',
      user_id: id,
      detail: { email: 'ada@example.org', role: 'READER', invited_by: app.user_id },
    })
    expect(third).toMatchObject({
      action: 'member.invited',
      user_id: app.user_id,
      detail: { email: 'ada@example.org', role: 'READER' },
    })
  })

  test('is paged, and filtered by action, user, kind of target and time', async () => {
    const manager = await addPerson(app, 'MANAGER')
    await manager.request('POST', '/tokens', { name: 'of the manager' })
    const { body: token } = await manager.request('POST', '/tokens', { name: 'second' })
    await manager.request('DELETE', `/tokens/${token.id}`)
    expect(await actions(`?user_id=${manager.user_id}`)).toEqual([
      'token.revoked',
      'token.created',
      'token.created',
    ])
    expect(await actions(`?user_id=${manager.user_id}&action=token.revoked`)).toEqual(['token.revoked'])
    expect(new Set(await actions('?target_type=token'))).toEqual(new Set(['token.revoked', 'token.created']))
    expect(await actions('?action=token')).toEqual([])
    expect(
      await actions(
        `?user_id=${manager.user_id},999&action=token,token.revoked&target_type=token&target_type=user`,
      ),
    ).toEqual(['token.revoked'])
    const page = (await log(`?user_id=${manager.user_id}&skip=1&limit=1`)).body
    expect(page).toMatchObject({
      items: [{ detail: { name: 'second' } }],
      total: 3,
      page: 2,
      size: 1,
      pages: 3,
    })
    const { created_at } = page.items[0]
    const of_manager = `?user_id=${manager.user_id}&created`
    expect(await actions(`${of_manager}_before=${created_at}`)).not.toContain('token.revoked')
    expect(await actions(`${of_manager}_after=${created_at}&action=token.created`)).toEqual([])
  })

  test('contains nothing of another organization', async () => {
    const theirs = await addCaller(app, other.user_id, {}, other.org_id)
    await theirs.request('POST', '/service-users', { name: 'secret of Other', role: 'READER' })
    expect(JSON.stringify((await log()).body)).not.toContain('secret of Other')
    expect((await log('', theirs)).body).toMatchObject({
      total: 1,
      items: [{ organization_id: other.org_id }],
    })
  })

  test('contains no refused action', async () => {
    const before = (await log()).body.total
    await admin.request('POST', '/members', { email: 'ada@example.org', role: 'READER' })
    await admin.request('DELETE', `/members/${app.user_id}`)
    await admin.request('POST', '/tokens', { name: 'x', repository_ids: [424_242] })
    expect((await log()).body.total).toBe(before)
  })
})

test('400: an invalid filter', async () => {
  expectProblem(await log('?created_after=yesterday'), 400, 'query.created_after')
  expectProblem(await log('?user_id=me'), 400, 'query.user_id')
  expectProblem(await log('?limit=101'), 400, 'query.limit')
})

test('403: every role but ADMIN, and a token without org:admin', async () => {
  for (const role of ['MANAGER', 'MEMBER', 'READER'] as const)
    expectProblem(await log('', await addPerson(app, role)), 403)
  expectProblem(await log('', await addCaller(app, app.user_id, { scopes: ['org:read'] })), 403)
})
