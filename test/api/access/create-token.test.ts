import { describe, expect, test } from 'vitest'
import { isWellFormed } from '../../../src/core/access/token.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { rows } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Bounds, type Caller, requestWith } from '../members/people.ts'
import { startOrganizations } from '../members/start-organizations.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { addService, create, made } from './make-token.ts'

const { app, other, admin } = await startOrganizations()
const member = await addPerson(app, 'MEMBER')
const reader = await addPerson(app, 'READER')

const in_a_while = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe('POST …/tokens', () => {
  describe('200', () => {
    test('F113 a token that works immediately, is shown once and stored as a digest', async () => {
      const token = await made(member, { name: ' nightly ' })
      expect(token).toMatchObject({
        name: 'nightly',
        kind: 'personal',
        prefix: 'arun_p_',
        scopes: null,
        repository_ids: null,
        wire_profile: 'standard',
        organization_id: app.org_id,
        user_id: member.user_id,
        created_by: member.user_id,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
      })
      expect(token.token).toMatch(/^arun_p_[0-9A-Za-z]{38}$/)
      expect(isWellFormed(token.token)).toBe(true)
      expect(token.token.endsWith(token.hint)).toBe(true)
      expect(
        (await requestWith(app, token.token, 'GET', `/v1/organizations/${app.org_id}/repos`)).status,
      ).toBe(200)
      const listed = await member.request('GET', '/tokens')
      expect(JSON.stringify(listed.body)).not.toContain(token.token)
      for (const { name } of await rows<{ name: string }>(
        app,
        `select tablename as name from pg_tables where schemaname = 'public'`,
      ))
        expect({
          name,
          found: await rows(app, `select 1 from ${name} t where t::text like '%' || $1 || '%'`, [
            token.token,
          ]),
        }).toEqual({
          name,
          found: [],
        })
    })

    test('it is valid for this organization only, though its user is also a member of another one', async () => {
      await insertMembership(app.db, other.org_id, member.user_id, 'ADMIN')
      const { token } = await made(member)
      expectProblem(await requestWith(app, token, 'GET', `/v1/organizations/${other.org_id}/repos`), 403)
      await rows(app, 'delete from memberships where organization_id = $1 and user_id = $2', [
        other.org_id,
        member.user_id,
      ])
    })

    test('scopes, in their order and once each, limit it', async () => {
      const { token, scopes } = await made(member, { scopes: ['org:read', 'runs:read', 'org:read'] })
      expect(scopes).toEqual(['runs:read', 'org:read'])
      expect(
        (await requestWith(app, token, 'GET', `/v1/organizations/${app.org_id}/agent/runs`)).status,
      ).toBe(200)
      const refused = expectProblem(
        await requestWith(app, token, 'GET', `/v1/organizations/${app.org_id}/repos`),
        403,
      )
      expect(refused.detail).toContain('repos:read')
      expectProblem(
        await requestWith(app, token, 'POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x' }),
        403,
      )
    })

    test('repositories of this organization, each once', async () => {
      const { repository_ids } = await made(member, { repository_ids: [app.repo_id, app.repo_id] })
      expect(repository_ids).toEqual([app.repo_id])
    })

    test('an expiry, as a duration or as a time', async () => {
      const { created_at, expires_at } = await made(member, { expires_in_seconds: 3_600 })
      expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(3_600_000)
      expect((await made(member, { expires_at: '2999-01-01T00:00:00+01:00' })).expires_at).toBe(
        '2998-12-31T23:00:00.000Z',
      )
    })

    test('the profile of a client', async () => {
      expect((await made(member, { wire_profile: 'codegen' })).wire_profile).toBe('codegen')
    })

    test('by an administrator for another member and for a service user, who cannot sign in', async () => {
      expect(await made(admin, { user_id: reader.user_id })).toMatchObject({
        user_id: reader.user_id,
        created_by: app.user_id,
      })
      const user_id = await addService(app)
      const { token, ...shown } = await made(admin, { user_id })
      expect(shown).toMatchObject({ kind: 'service', prefix: 'arun_s_', user_id, created_by: app.user_id })
      expect((await requestWith(app, token, 'GET', '/v1/users/me')).body).toMatchObject({
        id: user_id,
        full_name: 'bot',
        role: 'MEMBER',
      })
    })
  })

  describe('200: by default, with everything that the creating token may do', () => {
    const of_all =
      (own: Bounds, body: Record<string, unknown> = {}) =>
      async () =>
        made(await addCaller(app, app.user_id, own), body)

    test('its scopes, and of these what the role of the user has', async () => {
      const scopes = ['runs:read', 'runs:write', 'org:admin', 'org:read']
      expect((await of_all({ scopes })()).scopes).toEqual([
        'runs:read',
        'runs:write',
        'org:read',
        'org:admin',
      ])
      expect((await of_all({ scopes }, { user_id: reader.user_id })()).scopes).toEqual([
        'runs:read',
        'org:read',
      ])
      expect((await of_all({ scopes }, { scopes: null })()).scopes).toHaveLength(4)
    })

    test('its repositories', async () => {
      const own = { repository_ids: [app.repo_id], organization_id: app.org_id }
      expect((await of_all(own)()).repository_ids).toEqual([app.repo_id])
    })

    test('its expiry, unless it is a token of the web interface', async () => {
      const own = await addCaller(app, app.user_id, { expires_in_seconds: 3_600 })
      const [row] = await rows<{ expires_at: Date }>(app, 'select expires_at from tokens where id = $1', [
        own.token_id,
      ])
      expect((await made(own)).expires_at).toBe(row?.expires_at.toISOString())
      expect((await made(own, { expires_in_seconds: 60 })).expires_at).not.toBe(row?.expires_at.toISOString())
      expect((await of_all({ kind: 'browser', expires_in_seconds: 900 })()).expires_at).toBeNull()
      expect(
        (await of_all({ kind: 'browser', expires_in_seconds: 900 }, { expires_in_seconds: 86_400 })())
          .expires_at,
      ).not.toBeNull()
    })
  })

  describe('400', () => {
    test.each([
      ['no name', { name: undefined }, 'body.name'],
      ['an empty name', { name: ' ' }, 'body.name'],
      ['a name of 101 characters', { name: 'x'.repeat(101) }, 'body.name'],
      ['no scope', { scopes: [] }, 'body.scopes'],
      ['an unknown scope', { scopes: ['runs:read', 'everything'] }, 'body.scopes.1'],
      ['no repository', { repository_ids: [] }, 'body.repository_ids'],
      ['a repository that is none', { repository_ids: ['1'] }, 'body.repository_ids.0'],
      ['0 seconds', { expires_in_seconds: 0 }, 'body.expires_in_seconds'],
      ['more than ten years', { expires_in_seconds: 10 * 365 * 86_400 + 1 }, 'body.expires_in_seconds'],
      ['a time that is past', { expires_at: '2020-01-01T00:00:00Z' }, 'body.expires_at'],
      ['a time without a zone', { expires_at: '2999-01-01T00:00:00' }, 'body.expires_at'],
      ['two ends', { expires_at: '2999-01-01T00:00:00Z', expires_in_seconds: 60 }, 'body.expires_at'],
      ['an unknown profile', { wire_profile: 'other' }, 'body.wire_profile'],
      ['a user that is none', { user_id: 'me' }, 'body.user_id'],
    ])('%s', async (_what, body, field) => {
      const before = await contents(app)
      expectProblem(await create(admin, body), 400, field)
      expect(await contents(app)).toEqual(before)
    })

    test('a repository of another organization, with the message for a nonexistent one', async () => {
      const foreign = expectProblem(
        await create(admin, { repository_ids: [app.repo_id, other.repo_id] }),
        400,
        'body.repository_ids.1',
      )
      const never = expectProblem(
        await create(admin, { repository_ids: [app.repo_id, 424_242] }),
        400,
        'body.repository_ids.1',
      )
      expect({ ...foreign, request_id: '' }).toEqual({ ...never, request_id: '' })
    })

    test('a repository of this organization that is not on the list of the token', async () => {
      const id = await putRepository(app, 'second', 'https', 'https://git.example/second.git')
      const bound = await addCaller(app, app.user_id, {
        organization_id: app.org_id,
        repository_ids: [app.repo_id],
      })
      expectProblem(await create(bound, { repository_ids: [app.repo_id, id] }), 400, 'body.repository_ids.1')
    })
  })

  describe('403', () => {
    async function refused(caller: Caller, body: Record<string, unknown>, ...fields: string[]) {
      const before = await contents(app)
      const problem = expectProblem(await create(caller, body), 403, ...fields)
      expect(await contents(app)).toEqual(before)
      return problem.detail
    }

    test('a scope that the role of the caller lacks', async () => {
      for (const scope of ['repos:admin', 'org:admin'])
        expect(await refused(member, { scopes: ['runs:read', scope] }, 'body.scopes')).toContain(scope)
    })

    test('a scope that the token of the caller lacks, though the role has it', async () => {
      const bound = await addCaller(app, app.user_id, { scopes: ['runs:read', 'runs:write'] })
      expect(await refused(bound, { scopes: ['runs:read', 'logs:read'] }, 'body.scopes')).toContain(
        'logs:read',
      )
    })

    test('a scope that the role of the other user lacks', async () => {
      expect(
        await refused(admin, { user_id: reader.user_id, scopes: ['runs:write'] }, 'body.scopes'),
      ).toContain('role READER')
      expect(
        await refused(
          admin,
          { user_id: await addService(app, 'READER'), scopes: ['org:admin'] },
          'body.scopes',
        ),
      ).toContain('READER')
    })

    test('no scope that the caller could grant', async () => {
      const bound = await addCaller(app, app.user_id, { scopes: ['runs:write', 'org:admin'] })
      await refused(bound, { user_id: reader.user_id }, 'body.scopes')
    })

    test('an expiry after that of the creating token', async () => {
      const short = await addCaller(app, app.user_id, { expires_in_seconds: 3_600 })
      await refused(short, { expires_in_seconds: 3_700 }, 'body.expires_in_seconds')
      await refused(short, { expires_at: in_a_while(3_700) }, 'body.expires_at')
    })

    test('another user, without org:admin by role or by token', async () => {
      expect(await refused(member, { user_id: reader.user_id })).toContain('org:admin')
      const bound = await addCaller(app, app.user_id, { scopes: ['runs:read', 'runs:write'] })
      expect(await refused(bound, { user_id: reader.user_id })).toContain('org:admin')
      // The same message whether the user exists or not.
      expect(await refused(bound, { user_id: 424_242 })).toContain('org:admin')
    })

    test('F100 a reader, or a read-only token', async () => {
      expect(await refused(reader, {})).toContain('runs:write')
      const reading = await addCaller(app, app.user_id, { scopes: ['runs:read', 'org:read', 'org:admin'] })
      expect(await refused(reading, { scopes: ['runs:read'] })).toContain('runs:write')
    })

    test('another organization', async () => {
      expectProblem(
        await requestWith(app, app.token, 'POST', `/v1/organizations/${other.org_id}/tokens`, { name: 'x' }),
        403,
      )
    })

    test('a chain of tokens never gains rights: each is limited by its creator', async () => {
      const first = await made(member, {
        scopes: ['runs:read', 'runs:write'],
        repository_ids: [app.repo_id],
        expires_in_seconds: 3_600,
      })
      const make = (token: string, body: Record<string, unknown>) =>
        requestWith(app, token, 'POST', `/v1/organizations/${app.org_id}/tokens`, { name: 't', ...body })
      const second = (await make(first.token, {})).body
      expect(second).toMatchObject({
        scopes: first.scopes,
        repository_ids: first.repository_ids,
        expires_at: first.expires_at,
      })
      for (const body of [{ scopes: ['logs:read'] }, { expires_in_seconds: 7_200 }, { user_id: app.user_id }])
        expectProblem(await make(second.token, body), 403)
      expectProblem(await make(second.token, { repository_ids: [app.repo_id, 424_242] }), 400)
    })
  })

  describe('404', () => {
    test('a user of another organization, with the message for a nonexistent one', async () => {
      const foreign = expectProblem(await create(admin, { user_id: other.user_id }), 404)
      const never = expectProblem(await create(admin, { user_id: 424_242 }), 404)
      expect({ ...foreign, request_id: '' }).toEqual({ ...never, request_id: '' })
    })
  })
})

describe('a token after its user has changed', () => {
  test('it loses rights with the role at the next request, and never regains more than its original scopes', async () => {
    const person = await addPerson(app, 'MEMBER')
    const wide = await made(person)
    const narrow = await made(person, { scopes: ['runs:read', 'runs:write'] })
    const shown = async () =>
      Object.fromEntries(
        (await admin.request('GET', '/tokens')).body.items.map((item: { id: number; scopes: unknown }) => [
          item.id,
          item.scopes,
        ]),
      )
    const may = async ({ token }: { token: string }) =>
      (await requestWith(app, token, 'POST', `/v1/organizations/${app.org_id}/tokens`, { name: 'child' }))
        .status
    expect([await may(wide), await may(narrow)]).toEqual([200, 200])
    await admin.request('PATCH', `/members/${person.user_id}`, { role: 'READER' })
    expect([await may(wide), await may(narrow)]).toEqual([403, 403])
    expect(await shown()).toMatchObject({ [wide.id]: null, [narrow.id]: ['runs:read'] })
    await admin.request('PATCH', `/members/${person.user_id}`, { role: 'ADMIN' })
    expect([await may(wide), await may(narrow)]).toEqual([200, 200])
    expect(await shown()).toMatchObject({ [narrow.id]: ['runs:read', 'runs:write'] })
  })
})
