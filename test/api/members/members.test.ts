import { describe, expect, test } from 'vitest'
import { CreatedInvitation, Member, MemberPage } from '../../../src/contract/organizations/members.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from './people.ts'
import { accept, sessionToken, startMembers } from './start-members.ts'

const { app, other, admin, add, added, invited, newEmail, newOrganization, unchanged } = await startMembers()
const roleOf = async (user_id: number) =>
  (
    await rows<{ role: string }>(
      app,
      'select role from memberships where organization_id = $1 and user_id = $2',
      [app.org_id, user_id],
    )
  )[0]?.role

describe('GET …/members', () => {
  test('200: people and service users, oldest first, page by page, and no members of another organization', async () => {
    const { caller, org_id, user_id } = await newOrganization()
    const person = await added({ email: newEmail(), full_name: 'Ada' }, caller)
    const { body: bot } = await caller.request('POST', '/service-users', { name: 'bot', role: 'READER' })
    const { status, body } = await caller.request('GET', '/members')
    expect(status).toBe(200)
    expect(MemberPage.strict().parse(body)).toMatchObject({ total: 3, page: 1, size: 100, pages: 1 })
    expect(
      body.items.map((item: Member) => [item.user_id, item.kind, item.role, item.organization_id]),
    ).toEqual([
      [user_id, 'person', 'ADMIN', org_id],
      [person.user_id, 'person', 'MEMBER', org_id],
      [bot.id, 'service', 'READER', org_id],
    ])
    expect((await caller.request('GET', '/members?skip=1&limit=1')).body).toMatchObject({
      items: [{ full_name: 'Ada' }],
      total: 3,
      page: 2,
    })
  })

  test('403: without org:read', async () => {
    expectProblem(
      await (await addCaller(app, app.user_id, { scopes: ['runs:read'] })).request('GET', '/members'),
      403,
    )
  })
})

describe('POST …/members', () => {
  describe('200', () => {
    test('an invitation, whose link works once and creates an account of the role; no table holds its code', async () => {
      const { body } = await add({
        email: ' Grace.Hopper@Example.ORG ',
        full_name: 'Grace Hopper',
        role: 'MANAGER',
      })
      const invitation = CreatedInvitation.strict().parse(body)
      expect(invitation).toMatchObject({
        email: 'grace.hopper@example.org',
        full_name: 'Grace Hopper',
        role: 'MANAGER',
        created_by: app.user_id,
        organization_id: app.org_id,
      })
      expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(7 * 24 * 3_600_000)
      expect(invitation.invitation_link).toMatch(new RegExp(`^${app.base_url}/invitation#code=[\\w-]{32}$`))
      const code = new URL(invitation.invitation_link).hash.slice('#code='.length)
      for (const { name } of await rows<{ name: string }>(
        app,
        `select tablename as name from pg_tables where schemaname = 'public'`,
      ))
        expect({
          name,
          found: await rows(app, `select 1 from ${name} t where t::text like '%' || $1 || '%'`, [code]),
        }).toEqual({
          name,
          found: [],
        })
      const { cookie } = await accept(app, invitation.invitation_link)
      const { body: session } = await sessionToken(app, cookie)
      expect(session).toMatchObject({
        organization_id: app.org_id,
        organizations: [{ id: app.org_id, name: 'My organization' }],
      })
      const user = await requestWith(
        app,
        session.token,
        'GET',
        `/v1/organizations/${app.org_id}/users/${session.user_id}`,
      )
      expect(user.body).toMatchObject({
        role: 'MANAGER',
        email: 'grace.hopper@example.org',
        full_name: 'Grace Hopper',
      })
      const { items } = (await admin.request('GET', '/members?limit=100')).body
      expect(items.find((item: Member) => item.user_id === session.user_id)).toMatchObject({
        has_signed_in: true,
      })
    })

    test('of twenty parallel invitations of one address one is open, and it creates one member', async () => {
      const email = newEmail()
      const responses = await Promise.all(Array.from({ length: 20 }, () => add({ email })))
      expect(responses.map(response => response.status)).toEqual(Array.from({ length: 20 }, () => 200))
      const accepted = await Promise.all(
        responses.map(response => accept(app, response.body.invitation_link)),
      )
      expect(accepted.map(response => response.status).sort()).toEqual([
        200,
        ...Array.from({ length: 19 }, () => 404),
      ])
      expect(await rows(app, 'select count(*)::int as n from memberships where email = $1', [email])).toEqual(
        [{ n: 1 }],
      )
    })
  })

  describe('400', () => {
    test.each([
      ['no address', undefined],
      ['an empty one', ''],
      ['no domain', 'ada'],
      ['two signs', 'a@b@example.org'],
      ['a blank in it', 'a da@example.org'],
      ['a line break', 'ada@example.org\nbcc:x@example.org'],
      ['NUL', 'ada\0@example.org'],
      ['half a surrogate pair', 'ada\ud800@example.org'],
      ['letters that look like others', 'аda@example.org'],
      ['a name around it', 'Ada <ada@example.org>'],
      ['255 characters', `${'a'.repeat(60)}@${`${'b'.repeat(47)}.`.repeat(4)}org`],
      ['a number', 7],
    ])('an address that is %s', async (_what, email) => {
      await unchanged(async () => expectProblem(await add({ email }), 400, 'body.email'))
    })

    test('a missing role, and an unknown one', async () => {
      for (const role of [undefined, null, 'OWNER', 'admin'])
        expectProblem(await add({ email: newEmail(), role }), 400, 'body.role')
    })

    test('an invalid name', async () => {
      for (const full_name of ['', 'x'.repeat(101), 'a\0b', 7])
        expectProblem(await add({ email: newEmail(), full_name }), 400, 'body.full_name')
    })
  })

  describe('403', () => {
    test('every role but ADMIN', async () => {
      for (const role of ['MANAGER', 'MEMBER', 'READER'] as const) {
        const caller = await addPerson(app, role)
        await unchanged(async () =>
          expect(expectProblem(await add({ email: newEmail() }, caller), 403).detail).toContain('org:admin'),
        )
      }
    })

    test('a role that allows more than the token does', async () => {
      const reading = ['runs:read', 'logs:read', 'repos:read', 'org:read', 'org:admin']
      const caller = await addCaller(app, app.user_id, { scopes: reading })
      for (const role of ['ADMIN', 'MANAGER', 'MEMBER'])
        await unchanged(async () =>
          expectProblem(await add({ email: newEmail(), role }, caller), 403, 'body.role'),
        )
      await invited({ email: newEmail(), role: 'READER' }, caller)
      const bound = await addCaller(app, app.user_id, {
        organization_id: app.org_id,
        repository_ids: [app.repo_id],
      })
      await unchanged(async () => expectProblem(await add({ email: newEmail(), role: 'READER' }, bound), 403))
    })

    test('a token that expires before the membership; the page is permitted', async () => {
      const short = await addCaller(app, app.user_id, { expires_in_seconds: 3_600 })
      await unchanged(async () => expectProblem(await add({ email: newEmail(), role: 'READER' }, short), 403))
      await invited(
        { email: newEmail() },
        await addCaller(app, app.user_id, { kind: 'browser', expires_in_seconds: 900 }),
      )
    })

    test('another organization', async () => {
      const body = { email: newEmail(), role: 'READER' }
      expectProblem(
        await requestWith(app, app.token, 'POST', `/v1/organizations/${other.org_id}/members`, body),
        403,
      )
    })
  })

  test('409: an existing member, whose role is unchanged', async () => {
    const email = newEmail()
    const { user_id } = await added({ email, role: 'READER' })
    await unchanged(async () => expectProblem(await add({ email, role: 'ADMIN' }), 409))
    expect(await roleOf(user_id)).toBe('READER')
  })
})

describe('PATCH …/members/{user_id}', () => {
  const change = (caller: Caller, user_id: number, role: unknown) =>
    caller.request('PATCH', `/members/${user_id}`, { role })

  test('200: another role, in effect with the next request of every token', async () => {
    const person = await addPerson(app, 'READER')
    const create = () => person.request('POST', '/agent/run', { prompt: 'x' })
    expectProblem(await create(), 403)
    const { status, body } = await change(admin, person.user_id, 'MEMBER')
    expect([status, Member.strict().parse(body).role]).toEqual([200, 'MEMBER'])
    expect((await create()).status).toBe(200)
    await change(admin, person.user_id, 'READER')
    expectProblem(await create(), 403)
  })

  test('200: the same role changes nothing, and is not audited', async () => {
    const person = await addPerson(app, 'READER')
    await unchanged(async () => expect((await change(admin, person.user_id, 'READER')).status).toBe(200))
  })

  test('200: an ADMIN names the GitHub account that this organization shows, and no other one', async () => {
    const person = await addPerson(app, 'READER')
    await insertMembership(app.db, other.org_id, person.user_id, 'READER')
    const patch = (body: unknown) => admin.request('PATCH', `/members/${person.user_id}`, body)
    const shown = async (caller: Caller) =>
      (await caller.request('GET', `/users/${person.user_id}`)).body.github_username
    const there = await addCaller(app, other.user_id, {}, other.org_id)
    expect((await patch({ github_username: 'ada-l', github_user_id: '583231' })).body).toMatchObject({
      github_username: 'ada-l',
      github_user_id: '583231',
      role: 'READER',
    })
    expect([await shown(admin), await shown(there)]).toEqual(['ada-l', ''])
    const { items } = (await admin.request('GET', '/audit-log?action=member.updated&limit=1')).body
    expect(items[0]).toMatchObject({
      target_id: `${person.user_id}`,
      detail: { github_username: 'ada-l', github_user_id: '583231' },
    })
    // Two organizations may name the same account: it is not an identity.
    expect(
      (await admin.request('PATCH', `/members/${app.user_id}`, { github_username: 'ada-l' })).status,
    ).toBe(200)
    expect((await patch({ github_username: null })).body).toMatchObject({
      github_username: '',
      github_user_id: '583231',
    })
    for (const github_username of ['@ada', '', 7])
      expectProblem(await patch({ github_username }), 400, 'body.github_username')
    for (const github_user_id of ['x', 583231])
      expectProblem(await patch({ github_user_id }), 400, 'body.github_user_id')
    expectProblem(await patch({}), 400, 'body.role')
    expectProblem(await person.request('PATCH', `/members/${person.user_id}`, { github_username: 'x' }), 403)
  })

  test('400: an unknown role', async () => {
    for (const role of [undefined, null, 'OWNER'])
      expectProblem(await change(admin, app.user_id, role), 400, 'body.role')
  })

  test('403: more than the token allows, also for its own user; less is allowed', async () => {
    const person = await addPerson(app, 'ADMIN')
    const caller = await addCaller(app, person.user_id, { scopes: ['org:admin', 'org:read'] })
    const reader = await addPerson(app, 'READER')
    await unchanged(async () =>
      expectProblem(await change(caller, reader.user_id, 'ADMIN'), 403, 'body.role'),
    )
    expect((await change(caller, person.user_id, 'READER')).status).toBe(200)
    expectProblem(await change(caller, person.user_id, 'ADMIN'), 403)
  })

  test('404: a user of another organization, with the message for a nonexistent one', async () => {
    const foreign = expectProblem(await change(admin, other.user_id, 'READER'), 404)
    const never = expectProblem(await change(admin, 424_242, 'READER'), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })

  test('409: the last person who is ADMIN, even if a service user is ADMIN', async () => {
    const { caller, user_id, org_id } = await newOrganization()
    await caller.request('POST', '/service-users', { name: 'bot', role: 'ADMIN' })
    for (const role of ['MANAGER', 'MEMBER', 'READER'])
      await unchanged(async () => expectProblem(await change(caller, user_id, role), 409))
    const { user_id: second } = await added({ email: newEmail(), role: 'ADMIN' }, caller)
    expect((await change(caller, user_id, 'READER')).status).toBe(200)
    expectProblem(await change(await addCaller(app, second, {}, org_id), second, 'READER'), 409)
  })
})
