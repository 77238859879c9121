import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { banner } from '../../../src/banner.ts'
import { digest } from '../../../src/core/access/token.ts'
import {
  createFirstToken,
  type FirstStartInput,
  type FirstStartResult,
  firstStart,
} from '../../../src/service/access/first-start.ts'
import { setDefaultRepository } from '../../../src/store/access/organizations.ts'
import { listRepositories } from '../../../src/store/access/repositories.ts'
import { findAccess } from '../../../src/store/access/token-access.ts'
import { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../database.ts'
import { startApp, TOKEN } from '../../start-app.ts'

const TOKEN_OF_OPERATOR = 'the-token-that-the-operator-gave'
const repository = {
  name: 'mine',
  full_name: 'me/mine',
  url: '/repositories/mine.git',
  kind: 'local',
} as const

async function emptyService() {
  const stack = new AsyncDisposableStack()
  const { url } = stack.use(await createTestDatabase())
  const db = stack.use(new Database(url, { max: 4, on_error: () => {} }))
  let samples = 0
  const start = (
    given: Partial<Omit<FirstStartInput, 'sample'>> & { forced?: boolean } = {},
  ): Promise<FirstStartResult> => {
    const { forced = false, ...rest } = given
    const create = async () => {
      samples++
      return '/data/sample.git'
    }
    return firstStart(db, {
      organization_name: 'Acme',
      token: null,
      wire_profile: 'standard',
      repository: null,
      sample: { forced, create },
      ...rest,
    })
  }
  const count = async (table: string) =>
    (await db.query<{ n: number }>({ text: `select count(*) as n from ${table}` })).rows[0]?.n
  return { db, url, start, count, samples: () => samples, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
const names = async (db: Database, org: number) =>
  (await listRepositories(db, org, { skip: 0, limit: 100 })).rows.map(row => row.full_name)

describe('the first start', () => {
  test('creates an organization, its admin and a working token that is shown once', async () => {
    await using service = await emptyService()
    const started = await service.start()
    const token = await createFirstToken(service.db, started.user_id, 'standard')
    expect(token).toMatch(/^arun_p_[0-9A-Za-z]{38}$/)
    expect(
      (await findAccess(service.db, [{ digest: digest(token ?? ''), organization_id: null }]))[0],
    ).toMatchObject({
      user_id: started.user_id,
      wire_profile: 'standard',
    })
    expect(
      await service.db.query({ text: 'select organization_id, user_id, role from memberships' }),
    ).toMatchObject({
      rows: [{ organization_id: started.organization_id, user_id: started.user_id, role: 'ADMIN' }],
    })
    expect((await service.db.query({ text: 'select name from organizations' })).rows).toEqual([
      { name: 'Acme' },
    ])
  })

  test('uses the token of the operator instead, with its wire profile, and shows none', async () => {
    await using service = await emptyService()
    const started = await service.start({ token: TOKEN_OF_OPERATOR, wire_profile: 'codegen' })
    expect(await createFirstToken(service.db, started.user_id, 'codegen')).toBeNull()
    expect(
      (await findAccess(service.db, [{ digest: digest(TOKEN_OF_OPERATOR), organization_id: null }]))[0],
    ).toMatchObject({
      user_id: started.user_id,
      wire_profile: 'codegen',
    })
  })

  test('registers the sample when no repository is given', async () => {
    await using service = await emptyService()
    const started = await service.start()
    expect(started.repository).toMatchObject({ name: 'sample/invoice', sample: true })
    expect(await names(service.db, started.organization_id)).toEqual(['sample/invoice'])
  })

  test('registers the given repository as the default, without the sample, unless that is requested too', async () => {
    await using one = await emptyService()
    const started = await one.start({ repository })
    expect([started.repository?.name, one.samples()]).toEqual(['me/mine', 0])
    expect(await names(one.db, started.organization_id)).toEqual(['me/mine'])
    await using two = await emptyService()
    const both = await two.start({ repository, forced: true })
    expect(both.repository).toMatchObject({ name: 'me/mine', sample: false })
    expect(await names(two.db, both.organization_id)).toEqual(['me/mine', 'sample/invoice'])
  })

  test('by ten processes in parallel creates one of each, and one token', async () => {
    await using service = await emptyService()
    await using second = new Database(service.url, { max: 4, on_error: () => {} })
    const input: FirstStartInput = {
      organization_name: 'Acme',
      token: null,
      wire_profile: 'standard',
      repository,
      sample: { forced: true, create: async () => '/s' },
    }
    const databases = Array.from({ length: 10 }, (_, i) => (i % 2 ? second : service.db))
    const all = await Promise.all(databases.map(db => firstStart(db, input)))
    const tokens = await Promise.all(
      databases.map(db => createFirstToken(db, all[0]?.user_id ?? 0, 'standard')),
    )
    expect(tokens.filter(token => token !== null)).toHaveLength(1)
    expect(
      new Set(all.map(started => `${started.organization_id} ${started.user_id} ${started.repository?.id}`))
        .size,
    ).toBe(1)
    for (const [table, n] of [
      ['organizations', 1],
      ['users', 1],
      ['memberships', 1],
      ['tokens', 1],
      ['repositories', 2],
    ] as const)
      expect({ table, n: await service.count(table) }).toEqual({ table, n })
  })
})

describe('a later start', () => {
  test('creates nothing new, whether the token was generated or given', async () => {
    for (const given of [{}, { token: TOKEN_OF_OPERATOR, repository, forced: true }]) {
      await using service = await emptyService()
      const first = await service.start(given)
      await createFirstToken(service.db, first.user_id, 'standard')
      const before = await Promise.all(
        ['organizations', 'users', 'memberships', 'tokens', 'repositories'].map(service.count),
      )
      const second = await service.start({ ...given, organization_name: 'Another name' })
      expect(second).toEqual(first)
      expect(await createFirstToken(service.db, second.user_id, 'standard')).toBeNull()
      expect(
        await Promise.all(
          ['organizations', 'users', 'memberships', 'tokens', 'repositories'].map(service.count),
        ),
      ).toEqual(before)
      expect((await service.db.query({ text: 'select name from organizations' })).rows).toEqual([
        { name: 'Acme' },
      ])
    }
  })

  test('with another token adds it; with a revoked one starts, and leaves it revoked', async () => {
    await using service = await emptyService()
    await service.start()
    await service.start({ token: TOKEN_OF_OPERATOR })
    expect(
      (await findAccess(service.db, [{ digest: digest(TOKEN_OF_OPERATOR), organization_id: null }]))[0],
    ).toBeDefined()
    await service.db.query({ text: 'update tokens set revoked_at = now()' })
    await service.start({ token: TOKEN_OF_OPERATOR })
    expect(
      (await findAccess(service.db, [{ digest: digest(TOKEN_OF_OPERATOR), organization_id: null }]))[0],
    ).toBeUndefined()
  })

  test('with a new repository makes it the default; a default that was chosen since is kept', async () => {
    await using service = await emptyService()
    const { organization_id, repository: sample } = await service.start()
    const started = await service.start({ repository })
    expect(started.repository?.name).toBe('me/mine')
    await setDefaultRepository(service.db, organization_id, sample?.id ?? 0)
    expect((await service.start({ repository })).repository?.name).toBe('sample/invoice')
  })
})

test('the environment of a first start reaches the API: organization, token, wire profile and a local repository', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-given-'))
  try {
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=trunk', join(folder, 'mine.git')])
    await using app = await startApp({
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_INIT_ORG: 'Acme',
      AGENTRUN_INIT_WIRE_PROFILE: 'codegen',
      AGENTRUN_INIT_REPO_URL: join(folder, 'mine.git'),
      AGENTRUN_SAMPLE: '1',
    })
    expect((await app.call('GET', '/v1/organizations')).body.items).toMatchObject([
      { id: app.org_id, name: 'Acme' },
    ])
    const { items } = (await app.call('GET', `/v1/organizations/${app.org_id}/repos`)).body
    expect(items).toMatchObject([
      { name: 'mine', url: join(folder, 'mine.git'), is_default: true, sample: false },
      { name: 'invoice', is_default: false, sample: true },
    ])
    expect(app.repo_id).toBe(items[0].id)
    expect((await findAccess(app.db, [{ digest: digest(TOKEN), organization_id: null }]))[0]).toMatchObject({
      wire_profile: 'codegen',
      user_id: app.user_id,
    })
    const { status, body } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
      prompt: 'x',
    })
    expect([status, body.repo_id]).toEqual([200, app.repo_id])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('an invalid repository stops the start with a line that names the variable', async () => {
  for (const url of ['ext::sh -c id', 'https://user:password@example.org/x.git', 'ftp://example.org/x'])
    await expect(startApp({ AGENTRUN_INIT_REPO_URL: url })).rejects.toThrow(/AGENTRUN_INIT_REPO_URL/)
})

test('a missing local repository does not prevent the start, but is reported in the log and at the terminal', async () => {
  await using app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_INIT_REPO_URL: '/no/such/repository.git',
  })
  expect(app.logs.filter(line => line.level === 'error')).toEqual([
    {
      level: 'error',
      message: 'AGENTRUN_INIT_REPO_URL: nothing is there',
      fields: { path: '/no/such/repository.git' },
    },
  ])
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/repos`)).body.items).toMatchObject([
    { url: '/no/such/repository.git' },
  ])
  const messageFor = (missing_repository: string | null) =>
    banner({
      base_url: app.base_url,
      link: '',
      token: null,
      files: null,
      data_dir: '',
      default_model: null,
      blocked: null,
      missing_repository,
      started: { organization_id: 1, user_id: 1, repository: null },
    })
  expect(messageFor('/no/such/repository.git')).toMatch(
    /^The repository cannot be found at \/no\/such\/repository\.git: /m,
  )
  expect(messageFor(null)).not.toContain('cannot be found')
})
