import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/contract/organizations/audit-log.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertServiceUser } from '../../../src/store/access/members.ts'
import { insertOrganization } from '../../../src/store/access/organizations.ts'
import { contents } from '../../api/contents.ts'
import { createTestDatabase } from '../../database.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { admin, base_url, embeddedService, get, printed } from './run-admin.ts'

async function signIn(at: string, link: string): Promise<number> {
  const code = new URL(link).hash.slice('#code='.length)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${at}/session`, { method: 'POST', headers, body: JSON.stringify({ code }) })
  await response.body?.cancel()
  return response.status
}

describe('with the embedded database', () => {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const { env, databases, start, stop } = embeddedService(data)
  beforeAll(() => chmodSync(folder.path, 0o755))
  afterAll(() => folder[Symbol.dispose]())

  test('before the first start it reports that, and creates nothing', async () => {
    const { code, out, err } = await admin(['token'], env)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`there is no data in ${data}: start the service once`)
    expect(existsSync(data)).toBe(false)
  })

  test('while the service runs and while it does not: the token and the link work, and nothing is left behind', async () => {
    const service = await start()
    const token = await printed(['token', '--name', 'lost'], env)
    expect(token).toMatch(/^arun_p_[0-9A-Za-z]{38}$/)
    expect((await get(service.base_url, token, '/v1/users/me')).body).toMatchObject({
      full_name: 'Administrator',
      role: 'ADMIN',
    })
    const link = await printed(['link'], { ...env, AGENTRUN_BASE_URL: '' })
    expect(link.startsWith(`${service.base_url}/sign-in#code=`)).toBe(true)
    expect(await signIn(service.base_url, link)).toBe(200)
    await stop(service)

    const later = await admin(['token'], env)
    expect(later).toMatchObject({ code: 0, out: expect.stringMatching(/^arun_p_/) })
    expect(databases()).toEqual([])
    const link_later = await printed(['link'], env)
    expect(link_later.startsWith(`${base_url}/sign-in#code=`)).toBe(true)
    expect(databases()).toEqual([])

    const again = await start()
    for (const good of [token, later.out])
      expect((await get(again.base_url, good, '/v1/users/me')).status).toBe(200)
    expect(await signIn(again.base_url, link_later)).toBe(200)
    const { body } = await get(again.base_url, token, '/v1/organizations/1/audit-log')
    expect(
      body.items.map((item: AuditEntry) => [item.action, item.user_id, item.token_id, item.detail.by]),
    ).toEqual([
      ['sign_in_link.created', null, null, 'operator'],
      ['token.created', null, null, 'operator'],
      ['sign_in_link.created', null, null, 'operator'],
      ['token.created', null, null, 'operator'],
    ])
    expect(JSON.stringify(body)).not.toContain(token)
    await stop(again)
  })
})

describe('with DATABASE_URL', () => {
  let app: App
  let env: Record<string, string>
  beforeAll(async () => {
    app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    env = { DATABASE_URL: app.database_url }
  })
  afterAll(() => app[Symbol.asyncDispose]())

  async function newPerson(email: string | null, ...org_ids: number[]) {
    const { id } = await insertUser(app.db, { full_name: 'P' })
    if (email) await rows(app, 'update users set email = $2 where id = $1', [id, email])
    for (const org_id of org_ids) await insertMembership(app.db, org_id, id, 'MEMBER')
    return id
  }
  const me = async (token: string) => (await get(app.base_url, token, '/v1/users/me')).body
  const tokenRow = async (name: string) =>
    (
      await rows(
        app,
        `select user_id, organization_id, kind, wire_profile, created_by, expires_at
          from tokens
          where name = $1`,
        [name],
      )
    )[0]

  test('the oldest ADMIN who is a person, for all of their organizations', async () => {
    const token = await printed(['token'], env)
    expect(await me(token)).toMatchObject({ id: app.user_id })
    expect(await tokenRow('created by the operator')).toEqual({
      user_id: app.user_id,
      organization_id: null,
      kind: 'personal',
      wire_profile: 'standard',
      created_by: null,
      expires_at: null,
    })
  })

  test('a user by address in any case, or by id; an organization, a name and a profile', async () => {
    const { id: second } = await insertOrganization(app.db, 'Second')
    const id = await newPerson('ada@example.org', app.org_id, second)
    for (const user of ['Ada@Example.ORG', `${id}`])
      expect(await me(await printed(['token', '--user', user], env))).toMatchObject({ id })
    const bound = await printed(
      ['token', '--user', `${id}`, '--org', `${second}`, '--name', 'bound', '--wire-profile', 'codegen'],
      env,
    )
    expect(await tokenRow('bound')).toMatchObject({
      user_id: id,
      organization_id: second,
      wire_profile: 'codegen',
    })
    expect((await get(app.base_url, bound, `/v1/organizations/${app.org_id}/repos`)).status).toBe(403)
    // An access to several organizations is in the log of each.
    await printed(['token', '--user', `${id}`, '--name', 'wide'], env)
    const logged = await rows(
      app,
      `select organization_id
        from audit_entries
        where detail like '%"wide"%'
        order by 1`,
    )
    expect(logged).toEqual([{ organization_id: app.org_id }, { organization_id: second }])
  })

  test("the ADMIN of that organization, and a service user's token for its own alone", async () => {
    const { id: org_id } = await insertOrganization(app.db, 'Third')
    const { id: service_id } = await insertServiceUser(app.db, org_id, 'bot')
    await insertMembership(app.db, org_id, service_id, 'ADMIN')
    const person = await newPerson(null)
    await insertMembership(app.db, org_id, person, 'ADMIN')
    expect(await me(await printed(['token', '--org', `${org_id}`], env))).toMatchObject({ id: person })
    expect(await printed(['token', '--user', `${service_id}`, '--name', 'ci'], env)).toMatch(/^arun_s_/)
    expect(await tokenRow('ci')).toMatchObject({
      user_id: service_id,
      organization_id: org_id,
      kind: 'service',
    })
    const refused = await admin(['link', '--user', `${service_id}`], env)
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('never signs in') })
  })

  test('a link for any person, who may be in several organizations', async () => {
    const { id: other } = await insertOrganization(app.db, 'Fourth')
    const id = await newPerson('eve@example.org', app.org_id, other)
    expect(await signIn(app.base_url, await printed(['link', '--user', 'eve@example.org'], env))).toBe(200)
    expect(
      await rows(app, 'select last_sign_in_at is not null as signed_in from users where id = $1', [id]),
    ).toEqual([{ signed_in: true }])
  })

  test.each([
    [
      'an unknown address',
      ['token', '--user', 'nobody@example.org'],
      'user nobody@example.org does not exist',
    ],
    ['an unknown id', ['link', '--user', '424242'], 'user 424242 does not exist'],
    ['an unknown organization', ['token', '--org', '424242'], 'organization 424242 does not exist'],
  ])('%s is refused, and nothing is written', async (_what, args, words) => {
    const before = await contents(app)
    expect(await admin(args, env)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(words) })
    expect(await contents(app)).toEqual(before)
  })

  test('a user of another organization, or of none, is refused', async () => {
    const { id: elsewhere } = await insertOrganization(app.db, 'Fifth')
    const id = await newPerson(null, elsewhere)
    expect((await admin(['token', '--user', `${id}`, '--org', `${app.org_id}`], env)).err).toContain(
      'not a member of organization',
    )
    expect((await admin(['token', '--user', `${await newPerson(null)}`], env)).err).toContain(
      'not a member of any organization',
    )
  })

  test.each([
    [[], ''],
    [['tokens'], 'there is no command "tokens"'],
    [['token', 'x'], 'there is no command'],
    [['token', '--force'], '--force'],
    [['token', '--org', 'mine'], '--org is the number'],
    [['token', '--name', ' '], '--name has'],
    [['token', '--wire-profile', 'x'], '--wire-profile is'],
    [['link', '--name', 'x'], 'are for a token'],
    [['backup'], 'backup takes one file'],
    [['restore', 'a', 'b'], 'restore takes one file'],
  ])('%j prints the usage, before anything is opened', async (args, words) => {
    const { code, out, err } = await admin(args, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(words)
    expect(err).toContain('usage: ./agentrun admin token')
  })

  test('a database that is away, empty or of another version is refused in one line', async () => {
    const away = await admin(['token'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect(away).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('the database cannot be reached: connect ECONNREFUSED'),
    })
    await using database = await createTestDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      `insert into migrations (name, digest, needs)
        values ('9999_later.sql', '', '9999_later.sql')`,
    )
    const other = await admin(['token'], { DATABASE_URL: database.url })
    expect(other).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('which this version cannot run on'),
    })
    await client.query('drop schema public cascade; create schema public')
    await client.end()
    const empty = await admin(['token'], { DATABASE_URL: database.url })
    expect(empty).toMatchObject({ code: 1, out: '', err: expect.stringContaining('the database is empty') })
    for (const { err } of [away, other, empty]) expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a link needs an address', async () => {
    const { code, err } = await admin(['link'], { ...env, AGENTRUN_BASE_URL: '', AGENTRUN_PORT: '0' })
    expect([code, err]).toEqual([1, expect.stringContaining('set AGENTRUN_BASE_URL')])
    expect(await printed(['link'], { ...env, AGENTRUN_BASE_URL: '', AGENTRUN_HOST: '::1' })).toContain(
      'http://[::1]:4600/sign-in#code=',
    )
  })
})

test('size prints the result of the documentation, and refuses what is not a number', async () => {
  const page = readFileSync(new URL('../../../docs/operations/sizing.md', import.meta.url), 'utf8')
  const [, words = '', result = ''] = /\$ \.\/agentrun admin (size .*)\n([\s\S]*?)\n```/.exec(page) ?? []
  expect(await printed(words.split(' '), {})).toBe(result)
  for (const [args, refusal] of [
    [['--concurrent', '5'], 'size needs --runs-per-day and --concurrent'],
    [['--concurrent', '0', '--runs-per-day', '1'], '--concurrent is a whole number from 1'],
  ] as const)
    expect(await admin(['size', ...args], {})).toMatchObject({
      code: 2,
      err: expect.stringContaining(refusal),
    })
})
