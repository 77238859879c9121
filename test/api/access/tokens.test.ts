import { describe, expect, test } from 'vitest'
import { Token, TokenPage } from '../../../src/contract/organizations/tokens.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from '../members/people.ts'
import { startOrganizations } from '../members/start-organizations.ts'
import { addService, made } from './make-token.ts'

const { app, other, admin } = await startOrganizations()
const member = await addPerson(app, 'MEMBER')
const reader = await addPerson(app, 'READER')

const ids = (page: { items: { id: number }[] }) => page.items.map(item => item.id)

describe('GET …/tokens', () => {
  test('200: newest first, page by page; a member sees their own, including unbound ones', async () => {
    const person = await addPerson(app, 'MEMBER')
    await addCaller(app, person.user_id, { kind: 'browser' })
    await addCaller(app, person.user_id, { organization_id: other.org_id })
    const [first, second] = [await made(person), await made(person)]
    const { status, body } = await person.request('GET', '/tokens')
    expect(status).toBe(200)
    expect(TokenPage.strict().parse(body)).toMatchObject({ total: 3, page: 1, size: 100, pages: 1 })
    expect(ids(body)).toEqual([second.id, first.id, person.token_id])
    expect((await person.request('GET', '/tokens?skip=1&limit=1')).body).toMatchObject({
      items: [{ id: first.id }],
      total: 3,
      page: 2,
    })
  })

  test('200: org:admin sees all that are bound to the organization, and only its own unbound ones', async () => {
    const person = await addPerson(app, 'MEMBER')
    const bound = await made(person)
    const service = await made(admin, { user_id: await addService(app) })
    const theirs = await addCaller(app, other.user_id, { organization_id: other.org_id }, other.org_id)
    const seen = ids((await admin.request('GET', '/tokens')).body)
    expect(seen).toEqual(expect.arrayContaining([bound.id, service.id, admin.token_id]))
    for (const hidden of [person.token_id, other.token_id, theirs.token_id])
      expect(seen).not.toContain(hidden)
    const reading = await addCaller(app, app.user_id, { scopes: ['org:read'] })
    expect(ids((await reading.request('GET', '/tokens')).body)).not.toContain(bound.id)
  })

  test('200: a token that the operator chose shows its last four characters and nothing of its beginning', async () => {
    const { items } = (await admin.request('GET', '/tokens')).body
    const first = items.find((item: { name: string }) => item.name === 'first token')
    expect(first).toMatchObject({
      prefix: '',
      hint: app.token.slice(-4),
      organization_id: null,
      created_by: null,
      kind: 'personal',
    })
  })

  test('400: an invalid page', async () =>
    void expectProblem(await admin.request('GET', '/tokens?limit=0'), 400, 'query.limit'))
  test('403: without org:read', async () => {
    const bound = await addCaller(app, app.user_id, { scopes: ['runs:read'] })
    expectProblem(await bound.request('GET', '/tokens'), 403)
  })
})

describe('DELETE …/tokens/{token_id}', () => {
  const revoke = (caller: Caller, id: number) => caller.request('DELETE', `/tokens/${id}`)

  test('200: its next request is refused; a second request has no further effect', async () => {
    const { id, token } = await made(member)
    const me = () => requestWith(app, token, 'GET', '/v1/users/me')
    expect((await me()).status).toBe(200)
    const first = await revoke(member, id)
    expect(Token.strict().parse(first.body)).toMatchObject({ id, revoked_at: expect.stringMatching(/Z$/) })
    expectProblem(await me(), 401)
    const second = await revoke(member, id)
    expect([second.status, second.body]).toEqual([200, first.body])
    const acts = await rows(
      app,
      `select action
        from audit_entries
        where target_type = 'token' and target_id = $1
        order by id`,
      [`${id}`],
    )
    expect(acts).toEqual([{ action: 'token.created' }, { action: 'token.revoked' }])
  })

  test('200: the calling token itself, the unbound one of its user, and by an administrator that of any member', async () => {
    const person = await addPerson(app, 'MEMBER')
    const bound = await made(person)
    expect((await revoke(admin, bound.id)).status).toBe(200)
    expect((await revoke(person, person.token_id)).status).toBe(200)
    expectProblem(await person.request('GET', '/tokens'), 401)
    const service = await made(admin, { user_id: await addService(app) })
    expect((await revoke(admin, service.id)).body).toMatchObject({ kind: 'service' })
    expectProblem(await requestWith(app, service.token, 'GET', '/v1/users/me'), 401)
  })

  test('404: a token sees and revokes none with more rights than itself, in this or other organizations', async () => {
    const person = await addPerson(app, 'MEMBER')
    const [wide, full] = [person, await made(person)]
    const narrow = await addCaller(app, person.user_id, {
      organization_id: app.org_id,
      scopes: ['org:read', 'runs:read', 'runs:write'],
    })
    const some = await addCaller(app, person.user_id, {
      organization_id: app.org_id,
      repository_ids: [app.repo_id],
    })
    const same = await made(narrow, { scopes: ['runs:read'] })
    await insertMembership(app.db, other.org_id, person.user_id, 'ADMIN')
    const elsewhere = await addCaller(app, person.user_id, { organization_id: other.org_id }, other.org_id)
    const free = await addCaller(app, person.user_id, { scopes: ['org:read', 'runs:write'] })
    for (const caller of [narrow, some, elsewhere, free])
      for (const id of [wide.token_id, full.id]) {
        expectProblem(await revoke(caller, id), 404)
        expect(ids((await caller.request('GET', '/tokens')).body ?? { items: [] })).not.toContain(id)
      }
    expect(ids((await narrow.request('GET', '/tokens')).body)).toEqual([same.id, narrow.token_id])
    expect((await revoke(narrow, same.id)).status).toBe(200)
    for (const caller of [narrow, some, elsewhere, free]) {
      expect((await revoke(caller, caller.token_id)).status).toBe(200)
      expectProblem(await caller.request('GET', '/tokens'), 401)
    }
    expect((await wide.request('GET', '/tokens')).status).toBe(200)
  })

  test('403: by a read-only caller', async () => {
    const { id } = await made(admin, { user_id: reader.user_id })
    expectProblem(await revoke(reader, id), 403)
  })

  test('404: of another user, of another organization, of the web interface, and a nonexistent one: the same message, still valid', async () => {
    const browser = await addCaller(app, member.user_id, { kind: 'browser' })
    const theirs = await addCaller(app, other.user_id, { organization_id: other.org_id }, other.org_id)
    const words = new Set<string>()
    const attempts: [Caller, number][] = [
      [member, admin.token_id],
      [member, (await made(admin)).id],
      [member, browser.token_id],
      [admin, member.token_id],
      [admin, theirs.token_id],
      [admin, other.token_id],
      [admin, 424_242],
    ]
    for (const [caller, id] of attempts)
      words.add(
        JSON.stringify({ ...expectProblem(await revoke(caller, id), 404), request_id: '', instance: '' }),
      )
    expect(words.size).toBe(1)
    for (const token of [browser.token, theirs.token, other.token, member.token])
      expect((await requestWith(app, token, 'GET', '/v1/users/me')).status).toBe(200)
  })

  test('400: an invalid id', async () =>
    void expectProblem(await admin.request('DELETE', '/tokens/x'), 400, 'path.token_id'))
})
