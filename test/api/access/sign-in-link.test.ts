import { describe, expect, test } from 'vitest'
import { SignInLink } from '../../../src/contract/organizations/members.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { lockUser } from '../../../src/store/access/members.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addOldMembership, addPerson, type Caller, requestWith } from '../members/people.ts'
import { accept, codeOf, follow, sessionToken, startMembers } from '../members/start-members.ts'

const { app, other, admin, added, invited, newEmail, newOrganization, unchanged } = await startMembers()

describe('POST …/members/{user_id}/sign-in-link', () => {
  const link = (caller: Caller, user_id: number) => caller.request('POST', `/members/${user_id}/sign-in-link`)

  test('200: a new link, and the previous one is void; no table contains its code', async () => {
    const { user_id } = await added({ email: newEmail() })
    const { sign_in_link } = (await link(admin, user_id)).body
    const { status, body } = await link(admin, user_id)
    expect(status).toBe(200)
    const fresh = SignInLink.strict().parse(body)
    const code = new URL(fresh.sign_in_link).hash.slice('#code='.length)
    expect(await rows(app, 'select user_id from sign_in_links where digest = $1', [digest(code)])).toEqual([
      { user_id },
    ])
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
    expect(await follow(app, sign_in_link)).toBeNull()
    expect(await follow(app, fresh.sign_in_link)).not.toBeNull()
  })

  test('200: for oneself; the session reaches no more than what the link was created with', async () => {
    const person = await addPerson(app, 'ADMIN')
    const { caller, org_id } = await newOrganization()
    const { invitation_link } = await invited({ email: newEmail() }, caller)
    const later = await addCaller(app, person.user_id)
    const joined = await requestWith(app, later.token, 'POST', '/v1/invitations/accept', {
      code: codeOf(invitation_link),
    })
    expect(joined.status).toBe(200)
    const reached = async (caller: Caller) => {
      const { body } = await link(caller, person.user_id)
      const { body: session } = await sessionToken(app, await follow(app, body.sign_in_link))
      return session.organizations.map(({ id }: { id: number }) => id)
    }
    expect(await reached(person)).toEqual([app.org_id])
    expect(await reached(later)).toEqual([app.org_id, org_id])
    // A token that is bound to one of the organizations creates none, though it belongs to the same user.
    const bound = await addCaller(app, person.user_id, { organization_id: app.org_id })
    await unchanged(async () => expectProblem(await link(bound, person.user_id), 409))
  })

  test('403: a member whose role allows more than the token does', async () => {
    const reading = await addCaller(app, app.user_id, {
      scopes: ['runs:read', 'logs:read', 'repos:read', 'org:read', 'org:admin'],
    })
    for (const role of ['ADMIN', 'MANAGER', 'MEMBER'] as const) {
      const person = await addPerson(app, role)
      await unchanged(async () => expectProblem(await link(reading, person.user_id), 403))
    }
    expect((await link(reading, (await addPerson(app, 'READER')).user_id)).status).toBe(200)
    await unchanged(async () => expectProblem(await link(reading, app.user_id), 403))
  })

  test('403: by a token that expires before a session would; the page is permitted', async () => {
    const { user_id } = await addPerson(app, 'READER')
    const short = await addCaller(app, app.user_id, { expires_in_seconds: 3_600 })
    await unchanged(async () => expectProblem(await link(short, user_id), 403))
    const page = await addCaller(app, app.user_id, { kind: 'browser', expires_in_seconds: 900 })
    expect((await link(page, user_id)).status).toBe(200)
  })

  test.each(['READER', 'MEMBER', 'MANAGER'] as const)(
    '200: %s for oneself, so who belongs to several organizations comes back',
    async role => {
      const { user_id } = await addPerson(app, role)
      await insertMembership(app.db, other.org_id, user_id, role)
      const own = await addCaller(app, user_id)
      const { body } = await link(own, user_id)
      const { organizations } = (await sessionToken(app, await follow(app, body.sign_in_link))).body
      expect(organizations.map(({ id }: { id: number }) => id)).toEqual([app.org_id, other.org_id])
      for (const bounds of [
        { scopes: ['org:read'] },
        { organization_id: app.org_id, repository_ids: [] },
        { expires_in_seconds: 3_600 },
      ]) {
        const less = await addCaller(app, user_id, bounds)
        await unchanged(async () => expectProblem(await link(less, user_id), 403))
      }
    },
  )

  test('403: for others by a caller who is not an ADMIN', async () => {
    const [person, reader] = [await addPerson(app, 'MANAGER'), await addPerson(app, 'READER')]
    await unchanged(async () =>
      expect(expectProblem(await link(person, reader.user_id), 403).detail).toContain('org:admin'),
    )
  })

  test('409: a user who also belongs to another organization, regardless of its administrator, with a message that names none', async () => {
    const { user_id } = await added({ email: newEmail() })
    await insertMembership(app.db, other.org_id, user_id, 'READER')
    await unchanged(async () =>
      expect(expectProblem(await link(admin, user_id), 409).detail).toContain('by its own means'),
    )
    await addOldMembership(app, other.org_id, app.user_id, 'ADMIN')
    await unchanged(async () => expectProblem(await link(admin, user_id), 409))
    await rows(app, 'delete from memberships where organization_id = $1 and user_id = $2', [
      other.org_id,
      app.user_id,
    ])
  })

  test('409: of a link and a parallel acceptance elsewhere, the session of the link never reaches both', async () => {
    const { caller, org_id } = await newOrganization()
    for (let i = 0; i < 10; i++) {
      const { user_id, cookie } = await added({ email: newEmail() })
      const { invitation_link } = await invited({ email: newEmail() }, caller)
      const [given, joined] = await Promise.all([link(admin, user_id), accept(app, invitation_link, cookie)])
      expect(joined.status).toBe(200)
      expect([200, 409]).toContain(given.status)
      if (given.status === 200) expect(await follow(app, given.body.sign_in_link)).toBeNull()
      expect(
        (await sessionToken(app, cookie)).body.organizations.map(({ id }: { id: number }) => id),
      ).toEqual([app.org_id, org_id])
    }
  })

  test('409: a service user', async () => {
    const { body } = await admin.request('POST', '/service-users', { name: 'bot', role: 'READER' })
    await unchanged(async () => expectProblem(await link(admin, body.id), 409))
  })

  test('404: a user of another organization, with the message for a nonexistent one', async () => {
    const foreign = expectProblem(await link(admin, other.user_id), 404)
    const never = expectProblem(await link(admin, 424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })
})

test('401: a sign-in that waits for the account locks none of its links, so a request that voids them does not wait for it', async () => {
  const { user_id } = await added({ email: newEmail() })
  const { sign_in_link } = (await admin.request('POST', `/members/${user_id}/sign-in-link`)).body
  const waiting = `select 1
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%users%'`
  const { answer: response } = await app.db.transaction(async tx => {
    await lockUser(tx, user_id)
    const response = follow(app, sign_in_link)
    await expect.poll(() => rows(app, waiting), { timeout: 20_000 }).toHaveLength(1)
    const text = `delete from sign_in_links
        where user_id = $1 and digest in (select digest from sign_in_links for update skip locked)`
    expect((await tx.query({ text, values: [user_id] })).rowCount).toBe(1)
    return { answer: response }
  })
  expect(await response).toBeNull()
})
