import { describe, expect, test } from 'vitest'
import { Member, OpenedInvitation } from '../../../src/contract/organizations/members.ts'
import { digest } from '../../../src/core/access/token.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from './people.ts'
import { accept, codeOf, follow, open, sessionToken, startMembers } from './start-members.ts'

const { app, admin, added, invited, newEmail, newOrganization, unchanged } = await startMembers()
const reach = async (cookie: string | null) =>
  (await sessionToken(app, cookie)).body.organizations?.map(({ id }: { id: number }) => id) ?? []
const runsOf = (token: string, org_id: number) =>
  requestWith(app, token, 'GET', `/v1/organizations/${org_id}/agent/runs`)
const acceptWith = (token: string, link: string) =>
  requestWith(app, token, 'POST', '/v1/invitations/accept', { code: codeOf(link) })
const signInLink = async (caller: Caller, user_id: number) =>
  (await caller.request('POST', `/members/${user_id}/sign-in-link`)).body.sign_in_link as string
const memberOf = async (caller: Caller, email: string) =>
  (await caller.request('GET', '/members')).body.items.find((item: Member) => item.email === email)

describe('an address is not an identity', () => {
  test('200: two organizations that invite one address have two users, in either order of acceptance', async () => {
    for (const first of ['a', 'b'] as const) {
      const [a, b] = [await newOrganization(), await newOrganization()]
      const email = newEmail()
      const invitations = {
        a: await invited({ email, full_name: 'From A' }, a.caller),
        b: await invited({ email }, b.caller),
      }
      const cookies = { a: null as string | null, b: null as string | null }
      for (const which of first === 'a' ? (['a', 'b'] as const) : (['b', 'a'] as const))
        cookies[which] = (await accept(app, invitations[which].invitation_link)).cookie
      expect([await reach(cookies.a), await reach(cookies.b)]).toEqual([[a.org_id], [b.org_id]])
      const [here, there] = [await memberOf(a.caller, email), await memberOf(b.caller, email)]
      expect(here.user_id).not.toBe(there.user_id)
      expect([here.full_name, there.full_name]).toEqual(['From A', null])
    }
  })

  test('200: the response for an address that is known elsewhere is the same as for an unknown one, and nothing changes there', async () => {
    const { caller } = await newOrganization()
    const email = newEmail()
    const { user_id } = await added({ email, full_name: 'Secret Name' }, caller)
    const pending = await signInLink(caller, user_id)
    const [known, unknown] = [await invited({ email }), await invited({ email: newEmail() })]
    const shape = ({
      id: _id,
      email: _email,
      invitation_link: _link,
      created_at: _at,
      expires_at: _end,
      ...rest
    }: typeof known) => rest
    expect(shape(known)).toEqual(shape(unknown))
    // The link of that organization stays valid, and it can create another one.
    expect(await follow(app, pending)).not.toBeNull()
    expect(await follow(app, await signInLink(caller, user_id))).not.toBeNull()
  })

  test('200: an ADMIN who used the link of an address gets nothing that another organization grants to that address', async () => {
    const [attacker, victim] = [await newOrganization(), await newOrganization()]
    const email = newEmail()
    const taken = await added({ email }, attacker.caller)
    const page = (await sessionToken(app, taken.cookie)).body.token
    const { cookie } = await accept(app, (await invited({ email }, victim.caller)).invitation_link)
    expect(await reach(cookie)).toEqual([victim.org_id])
    expect(await reach(taken.cookie)).toEqual([attacker.org_id])
    expectProblem(await runsOf(page, victim.org_id), 403)
  })
})

describe('POST /session/invitation/accept', () => {
  test('200: the account that is signed in joins; its sessions and tokens from before do not reach the organization', async () => {
    const [first, second] = [await newOrganization(), await newOrganization()]
    const { user_id, cookie } = await added({ email: newEmail(), role: 'ADMIN' }, first.caller)
    const planted = await follow(app, await signInLink(first.caller, user_id))
    const unused = await signInLink(first.caller, user_id)
    const bound = (await first.caller.request('POST', '/tokens', { name: 't', user_id })).body.token
    const wide = await addCaller(app, user_id)
    const page = (await sessionToken(app, planted)).body.token

    const email = newEmail()
    const { status, body } = await accept(
      app,
      (await invited({ email }, second.caller)).invitation_link,
      cookie,
    )
    expect({ status, body }).toEqual({ status: 200, body: { organization_id: second.org_id } })
    expect(await reach(cookie)).toEqual([first.org_id, second.org_id])
    expect((await memberOf(second.caller, email)).user_id).toBe(user_id)

    expect(await reach(planted)).toEqual([first.org_id])
    expect(await follow(app, unused)).toBeNull()
    const renewed = (await sessionToken(app, planted)).body.token
    for (const token of [bound, wide.token, page, renewed]) {
      expect((await runsOf(token, first.org_id)).status).toBe(200)
      expectProblem(await runsOf(token, second.org_id), 403)
      expect(
        (await requestWith(app, token, 'GET', '/v1/organizations')).body.items.map(
          ({ id }: { id: number }) => id,
        ),
      ).toEqual([first.org_id])
      expect((await requestWith(app, token, 'GET', '/v1/users/me')).body.email).not.toBe(email)
      // Nor can they send messages to the agents of that organization in the name of the user.
      expectProblem(await requestWith(app, token, 'PATCH', '/v1/users/me', { custom_prompt: 'x' }), 403)
    }
    const later = await addCaller(app, user_id)
    expect((await runsOf(later.token, second.org_id)).status).toBe(200)
  })

  test('200: joining a third organization does not open the second one to a session that could not reach it', async () => {
    const [first, second, third] = [await newOrganization(), await newOrganization(), await newOrganization()]
    const { user_id, cookie } = await added({ email: newEmail(), role: 'ADMIN' }, first.caller)
    const planted = await follow(app, await signInLink(first.caller, user_id))
    await accept(app, (await invited({ email: newEmail() }, second.caller)).invitation_link, cookie)
    await accept(app, (await invited({ email: newEmail() }, third.caller)).invitation_link, planted)
    expect(await reach(planted)).toEqual([first.org_id, third.org_id])
    expect(await reach(cookie)).toEqual([first.org_id, second.org_id])
  })

  test('200: an organization that one session creates is not reachable by the other one', async () => {
    const { caller, org_id } = await newOrganization()
    const { user_id, cookie } = await added({ email: newEmail(), role: 'ADMIN' }, caller)
    const planted = await follow(app, await signInLink(caller, user_id))
    const { token } = (await sessionToken(app, cookie)).body
    const { body: own } = await requestWith(app, token, 'POST', '/v1/organizations', { name: 'Own' })
    expect((await runsOf(token, own.id)).status).toBe(200)
    expect([await reach(cookie), await reach(planted)]).toEqual([[org_id, own.id], [org_id]])
  })

  test('200: removed and invited again, with the same account and with a new one', async () => {
    const { caller, org_id } = await newOrganization()
    const email = newEmail()
    const { user_id, cookie } = await added({ email }, caller)
    await caller.request('DELETE', `/members/${user_id}`)
    expect((await sessionToken(app, cookie)).status).toBe(403)
    const again = await invited({ email }, caller)
    expect((await open(app, again.invitation_link, cookie)).body.account).toMatchObject({ user_id })
    expect((await accept(app, again.invitation_link, cookie)).status).toBe(200)
    expect(await reach(cookie)).toEqual([org_id])
    await caller.request('DELETE', `/members/${user_id}`)
    expect((await added({ email }, caller)).user_id).not.toBe(user_id)
  })

  test('200 for one of twenty parallel acceptances', async () => {
    const { invitation_link } = await invited({ email: newEmail() })
    const responses = await Promise.all(Array.from({ length: 20 }, () => accept(app, invitation_link)))
    expect(responses.map(response => response.status).sort()).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 404),
    ])
  })

  test('400 names the field', async () => {
    const post = (body: unknown) => app.call('POST', '/session/invitation/accept', body)
    expectProblem(await post({ account: 'new' }), 400, 'body.code')
    expectProblem(await post({ code: 'x', account: 'other' }), 400, 'body.account')
  })

  test('401 to join the signed-in account without a session', async () => {
    const { invitation_link } = await invited({ email: newEmail() })
    await unchanged(async () =>
      expectProblem(await accept(app, invitation_link, 'agentrun_session=none'), 401),
    )
  })

  test('403 from another site, and the invitation stays open', async () => {
    const { invitation_link } = await invited({ email: newEmail() })
    await unchanged(async () =>
      expectProblem(await accept(app, invitation_link, null, { origin: 'http://evil.example' }), 403),
    )
    expect((await accept(app, invitation_link)).status).toBe(200)
  })

  test('404, with the same message: used, revoked, replaced, expired, and nonexistent', async () => {
    const email = newEmail()
    const { invitation_link: replaced } = await invited({ email })
    const { invitation_link: used } = await invited({ email })
    await accept(app, used)
    const revoked = await invited({ email: newEmail() })
    await admin.request('DELETE', `/invitations/${revoked.id}`)
    const expired = await invited({ email: newEmail() })
    await rows(app, `update invitations set expires_at = now() where id = $1`, [expired.id])
    const { cookie } = await added({ email: newEmail() })
    const links = [
      used,
      replaced,
      revoked.invitation_link,
      expired.invitation_link,
      `${app.base_url}/invitation#code=never`,
    ]
    await unchanged(async () => {
      const words = new Set<string>()
      for (const link of links)
        for (const response of [
          await accept(app, link),
          await accept(app, link, cookie),
          await open(app, link),
          await acceptWith(app.token, link),
        ])
          words.add(expectProblem(response, 404).detail)
      expect(words.size).toBe(1)
    })
  })

  test('409: an existing member, and the invitation stays open for another person', async () => {
    const { cookie } = await added({ email: newEmail() })
    const { invitation_link } = await invited({ email: newEmail() })
    await unchanged(async () => expectProblem(await accept(app, invitation_link, cookie), 409))
    expect((await accept(app, invitation_link)).status).toBe(200)
  })
})

describe('POST /session/invitation', () => {
  test('200: its organization, without using it up, and the signed-in account', async () => {
    const { invitation_link, email } = await invited({ email: newEmail(), role: 'READER' })
    const { body } = await open(app, invitation_link)
    expect(OpenedInvitation.strict().parse(body)).toMatchObject({
      organization_name: 'My organization',
      email,
      role: 'READER',
      account: null,
    })
    const { cookie, user_id } = await added({ email: newEmail(), full_name: 'Ada' })
    expect((await open(app, invitation_link, cookie)).body.account).toEqual({ user_id, full_name: 'Ada' })
    expect((await accept(app, invitation_link)).status).toBe(200)
  })

  test('403 from another site', async () => {
    const { invitation_link } = await invited({ email: newEmail() })
    expectProblem(await open(app, invitation_link, null, { 'sec-fetch-site': 'cross-site' }), 403)
  })

  test('404 for an unknown code', async () => {
    expectProblem(await open(app, `${app.base_url}/invitation#code=none`), 404)
  })
})

describe('POST /v1/invitations/accept', () => {
  test('200: the account of the token joins, and of its tokens only this one reaches the organization', async () => {
    const { caller, org_id } = await newOrganization()
    const person = await addPerson(app, 'READER')
    const sibling = await addCaller(app, person.user_id)
    const email = newEmail()
    const { status, body } = await acceptWith(
      person.token,
      (await invited({ email, role: 'MANAGER' }, caller)).invitation_link,
    )
    expect(status).toBe(200)
    expect(Member.strict().parse(body)).toMatchObject({
      user_id: person.user_id,
      organization_id: org_id,
      email,
      role: 'MANAGER',
    })
    expect((await runsOf(person.token, org_id)).status).toBe(200)
    expectProblem(await runsOf(sibling.token, org_id), 403)
    const [entry] = await rows(
      app,
      `select user_id, action, detail
        from audit_entries
        where organization_id = $1
        order by id desc
        limit 1`,
      [org_id],
    )
    expect(entry).toMatchObject({
      user_id: person.user_id,
      action: 'member.added',
      detail: expect.stringContaining(email),
    })
  })

  test('403: a token that is bound to an organization, to scopes or to repositories', async () => {
    const { invitation_link } = await invited({ email: newEmail() }, (await newOrganization()).caller)
    for (const bounds of [
      { organization_id: app.org_id },
      { scopes: ['org:admin'] },
      { organization_id: app.org_id, repository_ids: [app.repo_id] },
    ]) {
      const { token } = await addCaller(app, app.user_id, bounds)
      await unchanged(async () => expectProblem(await acceptWith(token, invitation_link), 403))
    }
  })

  test('404 and 409: an unknown code, and a member', async () => {
    expectProblem(await acceptWith(app.token, 'http://x/#code=none'), 404)
    expectProblem(await acceptWith(app.token, (await invited({ email: newEmail() })).invitation_link), 409)
  })
})

test('a session that an older version created reaches only memberships from before invitations', async () => {
  const { caller, org_id } = await newOrganization()
  const { user_id } = await added({ email: newEmail() }, caller)
  const secret = 'a-session-of-older-code'
  await rows(
    app,
    `insert into browser_sessions (digest, user_id, expires_at)
      values ($1, $2, now() + interval '1 day')`,
    [digest(secret), user_id],
  )
  expect((await sessionToken(app, `agentrun_session=${secret}`)).status).toBe(403)
  await rows(app, 'update memberships set accepted_at = null where user_id = $1', [user_id])
  expect(await reach(`agentrun_session=${secret}`)).toEqual([org_id])
})
