import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Secret, SecretPage } from '../../../src/contract/organizations/secrets.ts'
import { createSealer, readKey } from '../../../src/core/secrets/sealing.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const ours = () => `/v1/organizations/${app.org_id}`
const locations = ['/secrets', '/repos/{repo_id}/secrets'] as const
const at = (path: string, repo_id = app.repo_id) => ours() + path.replace('{repo_id}', `${repo_id}`)

describe.each(locations)('%s', location => {
  const put = (name: string, body: unknown) => app.call('PUT', `${at(location)}/${name}`, body)
  const list = (query = '') => app.call('GET', at(location) + query)
  const repo_id = () => (location === '/secrets' ? null : app.repo_id)

  test('200: set, listed by name and deleted, and its value is in no response', async () => {
    const first = await put('B_TOKEN', { value: 'the-value' })
    expect(first.status).toBe(200)
    expect(Secret.strict().parse(first.body)).toMatchObject({
      name: 'B_TOKEN',
      repo_id: repo_id(),
      for_agent: false,
      updated_by: app.user_id,
    })
    await put('A_TOKEN', { value: 'x'.repeat(32 * 1024), for_agent: true })
    const { body } = await list()
    expect(SecretPage.strict().parse(body)).toMatchObject({
      items: [{ name: 'A_TOKEN', for_agent: true }, first.body],
      total: 2,
      pages: 1,
    })
    expect((await list('?skip=1&limit=1')).body.items).toEqual([first.body])
    const again = await put('B_TOKEN', { value: 'another-value' })
    expect(again.body).toEqual({ ...first.body, updated_at: again.body.updated_at })
    expect(Date.parse(again.body.updated_at)).toBeGreaterThan(Date.parse(first.body.updated_at))
    expect((await put('A_TOKEN', { value: 'y'.repeat(8) })).body.for_agent).toBe(true)
    expect((await put('A_TOKEN', { value: 'y', for_agent: false })).body.for_agent).toBe(false)
    const gone = await app.call('DELETE', `${at(location)}/B_TOKEN`)
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 200, body: again.body })
    expect((await list()).body.items).toMatchObject([{ name: 'A_TOKEN' }])
    for (const response of [first, again, gone, await list()])
      expect(JSON.stringify(response.body)).not.toContain('value')
  })

  test('400: an invalid name or value, and the value is not repeated', async () => {
    const before = await contents(app)
    for (const name of ['lower', '1A', 'A-B', 'A%20', `A${'B'.repeat(100)}`, 'Ä', 'A.B'])
      expectProblem(await put(name, { value: 'x' }), 400, 'path.name')
    const wrong = [
      undefined,
      null,
      1,
      '',
      'hunter\0',
      `hunter${'x'.repeat(32 * 1024)}`,
      `hunter${'😀'.repeat(8_192)}`,
      ['hunter'],
    ]
    for (const value of wrong) {
      const problem = expectProblem(await put('A', { value }), 400, 'body.value')
      expect(JSON.stringify(problem)).not.toContain('hunter')
    }
    expectProblem(await put('A', { value: 'x', for_agent: 'yes' }), 400, 'body.for_agent')
    // Secrets of agents must be removable from traces, and must not change what their commands do.
    for (const value of ['seven77', '  seven77  '])
      expectProblem(await put('A', { value, for_agent: true }), 400, 'body.value')
    for (const name of [
      'PATH',
      'LD_PRELOAD',
      'BASH_ENV',
      'GIT_DIR',
      'GIT_SSH_COMMAND',
      'HTTPS_PROXY',
      'IFS',
      '_',
      'PYTHONPATH',
    ])
      expectProblem(await put(name, { value: 'x'.repeat(8), for_agent: true }), 400, 'path.name')
    expect(await contents(app)).toEqual(before)
  })

  test('404: a nonexistent one', async () => {
    expectProblem(await app.call('DELETE', `${at(location)}/NOT_THERE`), 404)
  })

  test('409: the one after a hundred; existing ones can be replaced', async () => {
    await rows(
      app,
      `insert into secrets (organization_id, repository_id, name, key_id, sealed, updated_by)
        select $1, $2, 'N' || n, 'k', 's', $3
        from generate_series(
          1, 100 - (select count(*)::int from secrets where repository_id is not distinct from $2)
        ) n`,
      [app.org_id, repo_id(), app.user_id],
    )
    expectProblem(await put('ONE_MORE', { value: 'x' }), 409)
    expect((await put('A_TOKEN', { value: 'x'.repeat(8) })).status).toBe(200)
    await app.call('DELETE', `${at(location)}/N1`)
    // Of parallel requests one fits.
    const responses = await Promise.all(Array.from({ length: 8 }, (_, n) => put(`NEW_${n}`, { value: 'x' })))
    expect(responses.map(response => response.status).sort()).toEqual([200, ...Array(7).fill(409)])
    await rows(app, `delete from secrets where name like 'N%'`)
  })
})

test('404: a repository of another organization', async () => {
  const before = await contents(app)
  const theirs = at('/repos/{repo_id}/secrets', other.repo_id)
  expectProblem(await app.call('GET', theirs), 404)
  expectProblem(await app.call('PUT', `${theirs}/A`, { value: 'x' }), 404)
  expectProblem(await app.call('DELETE', `${theirs}/A`), 404)
  expect(await contents(app)).toEqual(before)
})

test('a value is not in the database or the log in plain text, and decrypts with the key of the data folder for its own name only', async () => {
  const value = `plain-${randomBytes(12).toString('hex')}`
  await app.call('PUT', `${at('/secrets')}/GREP`, { value })
  await app.call('PUT', `${at('/repos/{repo_id}/secrets')}/GREP`, { value })
  const bytes = Buffer.from(value)
  const forms = [
    value,
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -2),
    bytes.toString('base64url'),
  ]
  const tables = await rows<{ name: string }>(
    app,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  expect(tables.length).toBeGreaterThan(15)
  for (const { name } of tables)
    for (const form of forms)
      expect({
        name,
        form,
        found: await rows(app, `select 1 from ${name} t where strpos(t::text, $1) > 0`, [form]),
      }).toEqual({
        name,
        form,
        found: [],
      })
  expect(JSON.stringify(app.logs)).not.toContain(value)

  const sealer = createSealer(
    readKey(readFileSync(join(app.data_dir, 'secret.key'), 'utf8').trim()) ?? Buffer.alloc(0),
  )
  const [row] = await rows<{ key_id: string; sealed: Buffer }>(
    app,
    `select key_id, sealed from secrets where name = 'GREP' and repository_id = $1`,
    [app.repo_id],
  )
  if (!row) throw new Error('not stored')
  const context = { organization_id: app.org_id, scope: `repository:${app.repo_id}`, name: 'GREP' }
  expect(sealer.open(context, row)).toBe(value)
  expect(() => sealer.open({ ...context, scope: 'organization' }, row)).toThrow()
})

test('what is set, read and deleted leaves audit entries without values', async () => {
  await app.call('PUT', `${at('/secrets')}/AUDITED`, { value: 'the-audited-value' })
  await app.call('DELETE', `${at('/secrets')}/AUDITED`)
  const found = await rows<{ action: string; detail: string }>(
    app,
    `select action, detail
      from audit_entries
      where target_type = 'secret' and target_id = 'AUDITED'
      order by id`,
  )
  expect(found.map(entry => entry.action)).toEqual(['secret.set', 'secret.deleted'])
  expect(JSON.stringify(found)).not.toContain('value')
})

test('the secrets of a repository are deleted with it', async () => {
  const { body } = await app.call('POST', `${ours()}/repos`, {
    url: 'https://git.example.org/acme/with-secrets.git',
  })
  await app.call('PUT', `${at('/repos/{repo_id}/secrets', body.id)}/A`, { value: 'x' })
  await app.call('DELETE', `${ours()}/repos/${body.id}`)
  expect(await rows(app, 'select 1 from secrets where repository_id = $1', [body.id])).toEqual([])
  expectProblem(await app.call('GET', at('/repos/{repo_id}/secrets', body.id)), 404)
})

test('a start with another key reports that stored secrets cannot be decrypted', async () => {
  await app.call('PUT', `${at('/secrets')}/KEPT`, { value: 'x' })
  await using second = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    DATABASE_URL: app.database_url,
    AGENTRUN_SECRET_KEY: randomBytes(32).toString('base64'),
  })
  const warning = second.logs.find(entry => entry.message.includes('sealed with another key'))
  expect(warning).toMatchObject({ level: 'error', fields: { count: expect.any(Number) } })
  expect(app.logs.some(entry => entry.message.includes('sealed with another key'))).toBe(false)
})
