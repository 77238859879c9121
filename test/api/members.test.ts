import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AddedMember, Member, MemberPage, SignInLink } from '../../src/contract/members.ts'
import { digest } from '../../src/core/token.ts'
import { insertMembership } from '../../src/store/accounts.ts'
import { type Answer, type App, rows, startApp } from '../start-app.ts'
import { contents } from './contents.ts'
import { expectProblem } from './expect-problem.ts'
import { addCaller, addPerson, askWith, type Caller } from './people.ts'
import { addOrganization, addTenant, type Organization, type Tenant } from './second-organization.ts'

let app: App
let other: Tenant
let admin: Caller
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  admin = await addCaller(app, app.user_id)
})
afterAll(() => app[Symbol.asyncDispose]())

let count = 0
const newEmail = () => `person-${++count}@example.org`
const add = (body: Record<string, unknown>, caller = admin) => caller.ask('POST', '/members', { role: 'MEMBER', ...body })
async function added(body: Record<string, unknown>, caller = admin) {
  const answer = await add(body, caller)
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 })
  return AddedMember.strict().parse(answer.body)
}
const post = (path: string, body: unknown) =>
  fetch(app.base_url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
/** The cookie of who follows a sign-in link; null when it opens nothing. */
async function follow(link: string | null): Promise<string | null> {
  const answer = await post('/session', { code: new URL(link ?? 'http://x').hash.slice('#code='.length) || 'none' })
  await answer.body?.cancel()
  return answer.status === 200 ? (answer.headers.getSetCookie()[0]?.split(';')[0] ?? null) : null
}
async function sessionToken(cookie: string | null): Promise<Pick<Answer, 'status' | 'body'>> {
  const answer = await fetch(`${app.base_url}/session/token`, { method: 'POST', headers: { cookie: cookie ?? '' } })
  return { status: answer.status, body: await answer.json() }
}
const roleOf = async (user_id: number) =>
  (await rows<{ role: string }>(app, 'select role from memberships where organization_id = $1 and user_id = $2', [app.org_id, user_id]))[0]
    ?.role
async function unchanged(work: () => Promise<unknown>) {
  const before = await contents(app)
  await work()
  expect(await contents(app)).toEqual(before)
}
/** An organization of its own, with the caller as its first ADMIN: for what changes who administers it. */
async function newOrganization(): Promise<Organization & { caller: Caller }> {
  const organization = await addOrganization(app, `org-${++count}`)
  return { ...organization, caller: await addCaller(app, organization.user_id, {}, organization.org_id) }
}

describe('GET …/members', () => {
  test('200: people and service users, oldest first, page by page, and nobody of another organization', async () => {
    const { caller, org_id, user_id } = await newOrganization()
    const person = await added({ email: newEmail(), full_name: 'Ada' }, caller)
    const { body: bot } = await caller.ask('POST', '/service-users', { name: 'bot', role: 'READER' })
    const { status, body } = await caller.ask('GET', '/members')
    expect(status).toBe(200)
    expect(MemberPage.strict().parse(body)).toMatchObject({ total: 3, page: 1, size: 100, pages: 1 })
    expect(body.items.map((item: Member) => [item.user_id, item.kind, item.role, item.organization_id])).toEqual([
      [user_id, 'person', 'ADMIN', org_id],
      [person.user_id, 'person', 'MEMBER', org_id],
      [bot.id, 'service', 'READER', org_id],
    ])
    expect((await caller.ask('GET', '/members?skip=1&limit=1')).body).toMatchObject({ items: [{ full_name: 'Ada' }], total: 3, page: 2 })
  })

  test('403: without org:read', async () => {
    expectProblem(await (await addCaller(app, app.user_id, { scopes: ['runs:read'] })).ask('GET', '/members'), 403)
  })
})

describe('POST …/members', () => {
  describe('200', () => {
    test('somebody new, with a link that signs them in once, within a day', async () => {
      const member = await added({ email: ' Grace.Hopper@Example.ORG ', full_name: 'Grace Hopper', role: 'MANAGER' })
      expect(member).toMatchObject({
        ...{ email: 'grace.hopper@example.org', full_name: 'Grace Hopper', role: 'MANAGER', kind: 'person', has_signed_in: false },
        organization_id: app.org_id,
      })
      expect(member.sign_in_link).toMatch(new RegExp(`^${app.base_url}/sign-in#code=[\\w-]{32}$`))
      const day = Date.parse(member.sign_in_link_expires_at ?? '') - Date.parse(member.created_at)
      expect(day).toBe(24 * 3_600_000)
      const cookie = await follow(member.sign_in_link)
      const { body } = await sessionToken(cookie)
      expect(body).toMatchObject({ user_id: member.user_id, organization_id: app.org_id })
      expect((await askWith(app, body.token, 'GET', `/v1/organizations/${app.org_id}/users/${member.user_id}`)).body.role).toBe('MANAGER')
      expect(await follow(member.sign_in_link)).toBeNull()
      const { items } = (await admin.ask('GET', '/members')).body
      expect(items.find((item: Member) => item.user_id === member.user_id)).toMatchObject({ has_signed_in: true })
    })

    test('who is known by the address already is that person, keeps the name, and is given no link', async () => {
      const email = newEmail()
      const { caller } = await newOrganization()
      const there = await added({ email, full_name: 'First' }, caller)
      const here = await added({ email: email.toUpperCase(), full_name: 'Second', role: 'READER' })
      expect(here).toMatchObject({ user_id: there.user_id, full_name: 'First', role: 'READER', sign_in_link: null })
      expect(here.sign_in_link_expires_at).toBeNull()
    })

    test('a link that another organization gave and nobody used opens nothing any more: it would open this organization too', async () => {
      const { caller } = await newOrganization()
      const email = newEmail()
      const { sign_in_link } = await added({ email }, caller)
      await added({ email })
      expect(await follow(sign_in_link)).toBeNull()
    })

    test('who left and comes back signed in before needs no link', async () => {
      const email = newEmail()
      const first = await added({ email })
      await follow(first.sign_in_link)
      await admin.ask('DELETE', `/members/${first.user_id}`)
      expect(await added({ email })).toMatchObject({ user_id: first.user_id, sign_in_link: null, has_signed_in: true })
    })

    test('of twenty who add one address at once, one does, and there is one user', async () => {
      const email = newEmail()
      const answers = await Promise.all(Array.from({ length: 20 }, () => add({ email })))
      expect(answers.map(answer => answer.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
      expect(await rows(app, 'select count(*)::int as n from users where email = $1', [email])).toEqual([{ n: 1 }])
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

    test('no role, and one that there is not', async () => {
      for (const role of [undefined, null, 'OWNER', 'admin']) expectProblem(await add({ email: newEmail(), role }), 400, 'body.role')
    })

    test('a name that is none', async () => {
      for (const full_name of ['', 'x'.repeat(101), 'a\0b', 7])
        expectProblem(await add({ email: newEmail(), full_name }), 400, 'body.full_name')
    })
  })

  describe('403', () => {
    test('every role but ADMIN', async () => {
      for (const role of ['MANAGER', 'MEMBER', 'READER'] as const) {
        const caller = await addPerson(app, role)
        await unchanged(async () => expect(expectProblem(await add({ email: newEmail() }, caller), 403).detail).toContain('org:admin'))
      }
    })

    test('a role that allows more than the token does', async () => {
      const reading = ['runs:read', 'logs:read', 'repos:read', 'org:read', 'org:admin']
      const caller = await addCaller(app, app.user_id, { scopes: reading })
      for (const role of ['ADMIN', 'MANAGER', 'MEMBER'])
        await unchanged(async () => expectProblem(await add({ email: newEmail(), role }, caller), 403, 'body.role'))
      await added({ email: newEmail(), role: 'READER' }, caller)
      const bound = await addCaller(app, app.user_id, { organization_id: app.org_id, repository_ids: [app.repo_id] })
      await unchanged(async () => expectProblem(await add({ email: newEmail(), role: 'READER' }, bound), 403))
    })

    test('another organization', async () => {
      const body = { email: newEmail(), role: 'READER' }
      expectProblem(await askWith(app, app.token, 'POST', `/v1/organizations/${other.org_id}/members`, body), 403)
    })
  })

  test('409: a member already, whose role stays', async () => {
    const email = newEmail()
    const { user_id } = await added({ email, role: 'READER' })
    await unchanged(async () => expectProblem(await add({ email, role: 'ADMIN' }), 409))
    expect(await roleOf(user_id)).toBe('READER')
  })
})

describe('PATCH …/members/{user_id}', () => {
  const change = (caller: Caller, user_id: number, role: unknown) => caller.ask('PATCH', `/members/${user_id}`, { role })

  test('200: another role, in effect with the next request of every token', async () => {
    const person = await addPerson(app, 'READER')
    const create = () => person.ask('POST', '/agent/run', { prompt: 'x' })
    expectProblem(await create(), 403)
    const { status, body } = await change(admin, person.user_id, 'MEMBER')
    expect([status, Member.strict().parse(body).role]).toEqual([200, 'MEMBER'])
    expect((await create()).status).toBe(200)
    await change(admin, person.user_id, 'READER')
    expectProblem(await create(), 403)
  })

  test('200: the same role changes nothing, and is no act', async () => {
    const person = await addPerson(app, 'READER')
    await unchanged(async () => expect((await change(admin, person.user_id, 'READER')).status).toBe(200))
  })

  test('400: a role that there is not', async () => {
    for (const role of [undefined, null, 'OWNER']) expectProblem(await change(admin, app.user_id, role), 400, 'body.role')
  })

  test('403: more than the token allows, for oneself too; less is no favour', async () => {
    const person = await addPerson(app, 'ADMIN')
    const caller = await addCaller(app, person.user_id, { scopes: ['org:admin', 'org:read'] })
    const reader = await addPerson(app, 'READER')
    await unchanged(async () => expectProblem(await change(caller, reader.user_id, 'ADMIN'), 403, 'body.role'))
    expect((await change(caller, person.user_id, 'READER')).status).toBe(200)
    expectProblem(await change(caller, person.user_id, 'ADMIN'), 403)
  })

  test('404: a user of another organization, in the words for one that never was', async () => {
    const foreign = expectProblem(await change(admin, other.user_id, 'READER'), 404)
    const never = expectProblem(await change(admin, 424_242, 'READER'), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })

  test('409: the last person who is ADMIN, though a service user is one too', async () => {
    const { caller, user_id, org_id } = await newOrganization()
    await caller.ask('POST', '/service-users', { name: 'bot', role: 'ADMIN' })
    for (const role of ['MANAGER', 'MEMBER', 'READER']) await unchanged(async () => expectProblem(await change(caller, user_id, role), 409))
    const { user_id: second } = await added({ email: newEmail(), role: 'ADMIN' }, caller)
    expect((await change(caller, user_id, 'READER')).status).toBe(200)
    expectProblem(await change(await addCaller(app, second, {}, org_id), second, 'READER'), 409)
  })
})

describe('DELETE …/members/{user_id}', () => {
  const remove = (caller: Caller, user_id: number) => caller.ask('DELETE', `/members/${user_id}`)

  test('200: access ends with the next request, and so do the tokens of this organization; runs stay', async () => {
    const person = await addPerson(app, 'MEMBER')
    const { body: bound } = await person.ask('POST', '/tokens', { name: 't' })
    const { body: run } = await person.ask('POST', '/agent/run', { prompt: 'x' })
    await insertMembership(app.db, other.org_id, person.user_id, 'READER')
    const elsewhere = await addCaller(app, person.user_id, { organization_id: other.org_id }, other.org_id)
    const { status, body } = await remove(admin, person.user_id)
    expect([status, Member.strict().parse(body)]).toMatchObject([200, { user_id: person.user_id, role: 'MEMBER' }])
    expectProblem(await person.ask('GET', '/repos'), 403)
    expectProblem(await askWith(app, bound.token, 'GET', '/v1/users/me'), 401)
    expect((await elsewhere.ask('GET', '/repos')).status).toBe(200)
    expect((await admin.ask('GET', `/agent/run/${run.id}`)).body).toMatchObject({ user_id: person.user_id })
    expectProblem(await remove(admin, person.user_id), 404)
    // Who comes back has none of the tokens from before.
    await insertMembership(app.db, app.org_id, person.user_id, 'MEMBER')
    expectProblem(await askWith(app, bound.token, 'GET', '/v1/users/me'), 401)
  })

  test('200: a link that was not used opens nothing any more', async () => {
    const email = newEmail()
    const { user_id, sign_in_link } = await added({ email })
    await remove(admin, user_id)
    await insertMembership(app.db, app.org_id, user_id, 'MEMBER')
    expect(await follow(sign_in_link)).toBeNull()
  })

  test('200: who is signed in is signed out of the organization', async () => {
    const { user_id, sign_in_link } = await added({ email: newEmail() })
    const cookie = await follow(sign_in_link)
    const { body } = await sessionToken(cookie)
    const page = () => askWith(app, body.token, 'GET', `/v1/organizations/${app.org_id}/agent/runs`)
    expect((await page()).status).toBe(200)
    await remove(admin, user_id)
    expectProblem(await page(), 403)
    expect((await sessionToken(cookie)).status).toBe(403)
  })

  test('200: no token that is made at the same moment survives', async () => {
    for (let i = 0; i < 5; i++) {
      const person = await addPerson(app, 'MEMBER')
      const makes = Array.from({ length: 5 }, () => person.ask('POST', '/tokens', { name: 'race' }))
      const [removed, ...made] = await Promise.all([remove(admin, person.user_id), ...makes])
      expect(removed.status).toBe(200)
      for (const { status } of made) expect([200, 403, 404]).toContain(status)
      expect(
        await rows(app, 'select id from tokens where user_id = $1 and organization_id = $2 and revoked_at is null', [
          person.user_id,
          app.org_id,
        ]),
      ).toEqual([])
    }
  })

  test('409: the last person who is ADMIN', async () => {
    const { caller, user_id } = await newOrganization()
    await caller.ask('POST', '/service-users', { name: 'bot', role: 'ADMIN' })
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
        const demote = (caller: Caller, id: number) => caller.ask('PATCH', `/members/${id}`, { role: 'READER' })
        const acts: Record<string, [() => Promise<{ status: number }>, () => Promise<{ status: number }>]> = {
          'removing each other': [() => remove(first, second_id), () => remove(second, user_id)],
          'demoting each other': [() => demote(first, second_id), () => demote(second, user_id)],
          'removing and demoting': [() => remove(first, second_id), () => demote(second, user_id)],
          'each removing oneself': [() => remove(first, user_id), () => remove(second, second_id)],
        }
        const answers = await Promise.all(acts[how]?.map(act => act()) ?? [])
        // Who lost the role before the request came in is refused for that: 403.
        const statuses = answers.map(answer => answer.status).sort()
        expect(statuses[0]).toBe(200)
        expect([403, 409]).toContain(statuses[1])
        const left = await rows(app, `select user_id from memberships where organization_id = $1 and role = 'ADMIN'`, [org_id])
        expect(left).toHaveLength(1)
      }
    },
  )

  test('403: every role but ADMIN, for oneself too', async () => {
    const person = await addPerson(app, 'MANAGER')
    await unchanged(async () => expectProblem(await remove(person, person.user_id), 403))
  })

  test('404: a user of another organization, in the words for one that never was', async () => {
    const foreign = expectProblem(await remove(admin, other.user_id), 404)
    const never = expectProblem(await remove(admin, 424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })
})

describe('POST …/members/{user_id}/sign-in-link', () => {
  const link = (caller: Caller, user_id: number) => caller.ask('POST', `/members/${user_id}/sign-in-link`)

  test('200: a fresh one, and the one before opens nothing any more; no table holds its code', async () => {
    const { user_id, sign_in_link } = await added({ email: newEmail() })
    const { status, body } = await link(admin, user_id)
    expect(status).toBe(200)
    const fresh = SignInLink.strict().parse(body)
    const code = new URL(fresh.sign_in_link).hash.slice('#code='.length)
    expect(await rows(app, 'select user_id from sign_in_links where digest = $1', [digest(code)])).toEqual([{ user_id }])
    for (const { name } of await rows<{ name: string }>(app, `select tablename as name from pg_tables where schemaname = 'public'`))
      expect({ name, found: await rows(app, `select 1 from ${name} t where t::text like '%' || $1 || '%'`, [code]) }).toEqual({
        name,
        found: [],
      })
    expect(await follow(sign_in_link)).toBeNull()
    expect(await follow(fresh.sign_in_link)).not.toBeNull()
  })

  test('200: for oneself, and for who belongs to other organizations that the caller administers too', async () => {
    expect((await link(admin, app.user_id)).status).toBe(200)
    const { org_id } = await newOrganization()
    await insertMembership(app.db, org_id, app.user_id, 'ADMIN')
    const { user_id } = await added({ email: newEmail() })
    await insertMembership(app.db, org_id, user_id, 'READER')
    expect((await link(admin, user_id)).status).toBe(200)
    // Not by a token that is good for one of them only.
    const bound = await addCaller(app, app.user_id, { organization_id: app.org_id })
    await unchanged(async () => expectProblem(await link(bound, user_id), 409))
    await unchanged(async () => expectProblem(await link(bound, app.user_id), 409))
    await rows(app, 'delete from memberships where organization_id = $1', [org_id])
  })

  test('403: a member whose role allows more than the token does', async () => {
    const reading = await addCaller(app, app.user_id, { scopes: ['runs:read', 'logs:read', 'repos:read', 'org:read', 'org:admin'] })
    for (const role of ['ADMIN', 'MANAGER', 'MEMBER'] as const) {
      const person = await addPerson(app, role)
      await unchanged(async () => expectProblem(await link(reading, person.user_id), 403))
    }
    expect((await link(reading, (await addPerson(app, 'READER')).user_id)).status).toBe(200)
    await unchanged(async () => expectProblem(await link(reading, app.user_id), 403))
  })

  test('403: by a token that expires, which a sign-in would outlive; the page may', async () => {
    const { user_id } = await addPerson(app, 'READER')
    const short = await addCaller(app, app.user_id, { expires_in_seconds: 3_600 })
    await unchanged(async () => expectProblem(await link(short, user_id), 403))
    expect((await added({ email: newEmail() }, short)).sign_in_link).toBeNull()
    const page = await addCaller(app, app.user_id, { kind: 'browser', expires_in_seconds: 900 })
    expect((await link(page, user_id)).status).toBe(200)
  })

  test('403: by who is no ADMIN', async () => {
    const person = await addPerson(app, 'MANAGER')
    expectProblem(await link(person, person.user_id), 403)
  })

  test('409: who also belongs to an organization that the caller does not administer: it would be a way in there', async () => {
    const { user_id } = await added({ email: newEmail() })
    await insertMembership(app.db, other.org_id, user_id, 'READER')
    await unchanged(async () => expect(expectProblem(await link(admin, user_id), 409).detail).toContain('another organization'))
    await insertMembership(app.db, other.org_id, app.user_id, 'MANAGER')
    await unchanged(async () => expectProblem(await link(admin, user_id), 409))
    await rows(app, 'delete from memberships where organization_id = $1 and user_id = $2', [other.org_id, app.user_id])
  })

  test('409: of a link and a membership elsewhere that are made at once, the link never opens both', async () => {
    const { caller } = await newOrganization()
    for (let i = 0; i < 10; i++) {
      const email = newEmail()
      const { user_id } = await added({ email })
      const [given, joined] = await Promise.all([link(admin, user_id), add({ email }, caller)])
      expect(joined.status).toBe(200)
      expect([200, 409]).toContain(given.status)
      if (given.status === 200) expect(await follow(given.body.sign_in_link)).toBeNull()
    }
  })

  test('409: a service user', async () => {
    const { body } = await admin.ask('POST', '/service-users', { name: 'bot', role: 'READER' })
    await unchanged(async () => expectProblem(await link(admin, body.id), 409))
  })

  test('404: a user of another organization, in the words for one that never was', async () => {
    const foreign = expectProblem(await link(admin, other.user_id), 404)
    const never = expectProblem(await link(admin, 424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...never, request_id: '', instance: '' })
  })
})
