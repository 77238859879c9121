import { describe, expect, test } from 'vitest'
import { Member } from '../../../src/contract/organizations/members.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from './people.ts'
import { follow, sessionToken, startMembers } from './start-members.ts'

const { app, other, admin, added, newEmail, newOrganization, unchanged } = await startMembers()

describe('DELETE …/members/{user_id}', () => {
  const remove = (caller: Caller, user_id: number) => caller.request('DELETE', `/members/${user_id}`)

  test('200: access ends with the next request, and so do the tokens of this organization; runs remain', async () => {
    const person = await addPerson(app, 'MEMBER')
    const { body: bound } = await person.request('POST', '/tokens', { name: 't' })
    const { body: run } = await person.request('POST', '/agent/run', { prompt: 'x' })
    await insertMembership(app.db, other.org_id, person.user_id, 'READER')
    const elsewhere = await addCaller(app, person.user_id, { organization_id: other.org_id }, other.org_id)
    const { status, body } = await remove(admin, person.user_id)
    expect([status, Member.strict().parse(body)]).toMatchObject([
      200,
      { user_id: person.user_id, role: 'MEMBER' },
    ])
    expectProblem(await person.request('GET', '/repos'), 403)
    expectProblem(await requestWith(app, bound.token, 'GET', '/v1/users/me'), 401)
    expect((await elsewhere.request('GET', '/repos')).status).toBe(200)
    expect((await admin.request('GET', `/agent/run/${run.id}`)).body).toMatchObject({
      user_id: person.user_id,
    })
    expectProblem(await remove(admin, person.user_id), 404)
    // A member who joins again has none of the earlier tokens.
    await insertMembership(app.db, app.org_id, person.user_id, 'MEMBER')
    expectProblem(await requestWith(app, bound.token, 'GET', '/v1/users/me'), 401)
  })

  test('200: an unused link is void', async () => {
    const email = newEmail()
    const { user_id } = await added({ email })
    const { sign_in_link } = (await admin.request('POST', `/members/${user_id}/sign-in-link`)).body
    await remove(admin, user_id)
    await insertMembership(app.db, app.org_id, user_id, 'MEMBER')
    expect(await follow(app, sign_in_link)).toBeNull()
  })

  test('200: a signed-in user is signed out of the organization', async () => {
    const { user_id, cookie } = await added({ email: newEmail() })
    const { body } = await sessionToken(app, cookie)
    const page = () => requestWith(app, body.token, 'GET', `/v1/organizations/${app.org_id}/agent/runs`)
    expect((await page()).status).toBe(200)
    await remove(admin, user_id)
    expectProblem(await page(), 403)
    expect((await sessionToken(app, cookie)).status).toBe(403)
  })

  test('200: no token that is created at the same moment survives', async () => {
    for (let i = 0; i < 5; i++) {
      const person = await addPerson(app, 'MEMBER')
      const makes = Array.from({ length: 5 }, () => person.request('POST', '/tokens', { name: 'race' }))
      const [removed, ...made] = await Promise.all([remove(admin, person.user_id), ...makes])
      expect(removed.status).toBe(200)
      for (const { status } of made) expect([200, 403, 404]).toContain(status)
      expect(
        await rows(
          app,
          `select id
            from tokens
            where user_id = $1 and organization_id = $2 and revoked_at is null`,
          [person.user_id, app.org_id],
        ),
      ).toEqual([])
    }
  })

  test('409: the last person who is ADMIN', async () => {
    const { caller, user_id } = await newOrganization()
    await caller.request('POST', '/service-users', { name: 'bot', role: 'ADMIN' })
    await added({ email: newEmail(), role: 'MANAGER' }, caller)
    await unchanged(async () => expectProblem(await remove(caller, user_id), 409))
  })

  test.each(['removing each other', 'demoting each other', 'removing and demoting', 'each removing oneself'])(
    '409 for one of two admins who at once are %s: one is left, every time',
    async how => {
      for (let i = 0; i < 8; i++) {
        const { caller: first, org_id, user_id } = await newOrganization()
        const { user_id: second_id } = await added({ email: newEmail(), role: 'ADMIN' }, first)
        const second = await addCaller(app, second_id, {}, org_id)
        const demote = (caller: Caller, id: number) =>
          caller.request('PATCH', `/members/${id}`, { role: 'READER' })
        const acts: Record<string, [() => Promise<{ status: number }>, () => Promise<{ status: number }>]> = {
          'removing each other': [() => remove(first, second_id), () => remove(second, user_id)],
          'demoting each other': [() => demote(first, second_id), () => demote(second, user_id)],
          'removing and demoting': [() => remove(first, second_id), () => demote(second, user_id)],
          'each removing oneself': [() => remove(first, user_id), () => remove(second, second_id)],
        }
        const responses = await Promise.all(acts[how]?.map(act => act()) ?? [])
        // A caller that lost the role before the request gets 403.
        const statuses = responses.map(response => response.status).sort()
        expect(statuses[0]).toBe(200)
        expect([403, 409]).toContain(statuses[1])
        const left = await rows(
          app,
          `select user_id from memberships where organization_id = $1 and role = 'ADMIN'`,
          [org_id],
        )
        expect(left).toHaveLength(1)
      }
    },
  )

  test.each(['READER', 'MEMBER', 'MANAGER'] as const)(
    '200: %s leaves by oneself, with a token that has all of the role',
    async role => {
      const person = await addPerson(app, role)
      for (const bounds of [{ scopes: ['org:read'] }, { organization_id: app.org_id, repository_ids: [] }]) {
        const less = await addCaller(app, person.user_id, bounds)
        await unchanged(async () => expectProblem(await remove(less, person.user_id), 403))
      }
      expect(await remove(person, person.user_id)).toMatchObject({
        status: 200,
        body: { user_id: person.user_id, role },
      })
      expectProblem(await person.request('GET', '/repos'), 403)
    },
  )

  test('200: by a token with org:admin only', async () => {
    const [person, only] = [
      await addPerson(app, 'READER'),
      await addCaller(app, app.user_id, { scopes: ['org:admin'] }),
    ]
    expect((await remove(only, person.user_id)).status).toBe(200)
  })

  test('403: another member, by every role but ADMIN; and a service user, by itself', async () => {
    const [person, reader] = [await addPerson(app, 'MANAGER'), await addPerson(app, 'READER')]
    await unchanged(async () =>
      expect(expectProblem(await remove(person, reader.user_id), 403).detail).toContain('org:admin'),
    )
    const { body: bot } = await admin.request('POST', '/service-users', { name: 'bot', role: 'READER' })
    const { body: made } = await admin.request('POST', '/tokens', { name: 't', user_id: bot.id })
    const path = `/v1/organizations/${app.org_id}/members/${bot.id}`
    await unchanged(async () => expectProblem(await requestWith(app, made.token, 'DELETE', path), 403))
  })

  test('404: a user of another organization, with the message for a nonexistent one', async () => {
    const foreign = expectProblem(await remove(admin, other.user_id), 404)
    const never = expectProblem(await remove(admin, 424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })
})
