import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Repository, RepositoryPage } from '../../../src/contract/repositories/repositories.ts'
import { insertRepository } from '../../../src/store/access/repositories.ts'
import { createRun } from '../../runs/await-run.ts'
import { gitIn, makeRepository } from '../../runs/coding-app.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'

let app: App
let other: Tenant
const stack = new DisposableStack()
const folder = stack.use(temporaryFolder()).path
const outside = stack.use(temporaryFolder()).path
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_REPO_PATHS: folder })
  other = await addTenant(app)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  stack.dispose()
})

const path = (rest = '', org_id = app.org_id) => `/v1/organizations/${org_id}/repos${rest}`
const call = (method: string, rest = '', body?: unknown, org_id = app.org_id) =>
  app.call(method, path(rest, org_id), body)
let added = 0
/** A repository at its own unreachable address. */
async function add(body: object = {}) {
  const response = await call('POST', '', { url: `https://git.example.org/acme/r${++added}.git`, ...body })
  expect(response).toMatchObject({ status: 200 })
  return response.body
}

describe('GET …/repos', () => {
  test('200: the sample of a first start is the one repository', async () => {
    const { body } = await call('GET')
    expect(RepositoryPage.strict().parse(body)).toMatchObject({ total: 1, page: 1, size: 100, pages: 1 })
    expect(body.items[0]).toMatchObject({
      id: app.repo_id,
      organization_id: app.org_id,
      name: 'invoice',
      full_name: 'sample/invoice',
      github_id: '',
      archived: false,
      setup_status: 'NOT_SETUP',
      sample: true,
      is_default: true,
    })
  })

  test('200: oldest first, page by page, and never those of another organization', async () => {
    const ids: number[] = []
    for (let i = 0; i < 4; i++) ids.push((await add()).id)
    const { body } = await call('GET')
    RepositoryPage.strict().parse(body)
    expect(body.items.map((item: { id: number }) => item.id)).toEqual([app.repo_id, ...ids])
    expect(body.items.filter((item: { is_default: boolean }) => item.is_default)).toEqual([])
    expect((await call('GET', '?page=3&size=2')).body).toMatchObject({
      items: [{ id: ids[3] }],
      total: 5,
      page: 3,
      size: 2,
      pages: 3,
    })
    expect(JSON.stringify(body)).not.toContain('Other')
  })

  test('403: another organization', async () =>
    void expectProblem(await call('GET', '', undefined, other.org_id), 403))
})

describe('POST …/repos', () => {
  test('200: a repository by https or ssh, named after its address by default', async () => {
    const { status, body } = await call('POST', '', { url: 'https://git.example.org/acme/shop.git/' })
    expect(status).toBe(200)
    expect(Repository.strict().parse(body)).toEqual({
      id: body.id,
      organization_id: app.org_id,
      name: 'shop',
      full_name: 'acme/shop',
      description: null,
      github_id: '',
      visibility: null,
      archived: false,
      setup_status: 'NOT_SETUP',
      language: null,
      default_branch: null,
      reasoning_effort: null,
      review: null,
      sample: false,
      use_mcp_file: false,
      branch_prefix: null,
      url: 'https://git.example.org/acme/shop.git',
      is_default: false,
    })
    expect((await call('GET', `/${body.id}`)).body).toEqual(body)
    const settings = { name: ' Shop 2 ', default_branch: 'develop', description: ' the second ' }
    const second = await call('POST', '', { url: 'git@git.example.org:acme/shop2.git', ...settings })
    expect(second.body).toMatchObject({
      name: 'Shop 2',
      full_name: 'acme/shop2',
      default_branch: 'develop',
      description: 'the second',
    })
  })

  test('200: a local one below an allowed folder, and runs start from it', async () => {
    const local = join(folder, 'local')
    renameSync(makeRepository(), local)
    gitIn(local, 'checkout', '--quiet', '-b', 'develop')
    const { body } = await call('POST', '', { url: local, default_branch: 'develop' })
    expect(body).toMatchObject({ url: local, default_branch: 'develop' })
    expect(await createRun(app, { prompt: 'x', repo_id: body.id })).toMatchObject({ base_ref: 'develop' })
    expect(await createRun(app, { prompt: 'x', repo_id: body.id, base_ref: 'main' })).toMatchObject({
      base_ref: 'main',
    })
  })

  test('200: the default branch is known once the repository was fetched, before any run', async () => {
    const local = join(folder, 'trunk')
    renameSync(makeRepository(), local)
    gitIn(local, 'branch', '--quiet', '--move', 'trunk')
    const { body } = await call('POST', '', { url: local })
    await expect
      .poll(async () => (await call('GET', `/${body.id}`)).body.default_branch, { timeout: 20_000 })
      .toBe('trunk')
  })

  test.each([
    ['no address', undefined],
    ['a number', 1],
    ['an empty one', ''],
    ['a file', 'file:///etc'],
    ['a helper', 'ext::sh -c id'],
    ['an option', 'ssh://-oProxyCommand=x/a.git'],
    ['git://', 'git://git.example.org/a.git'],
    ['http', 'http://git.example.org/a.git'],
    ['a user and password', 'https://user:secret@git.example.org/a.git'],
    ['a line break', 'https://git.example.org/a%0a.git'],
    ['loopback', 'https://127.0.0.1/a.git'],
    ['a private address', 'https://10.0.0.1/a.git'],
    ['a private address in other digits', 'https://0x7f.1/a.git'],
    ['localhost', 'ssh://git@localhost/a.git'],
    ['the metadata service', 'https://169.254.169.254/a.git'],
    ['a local path that is not allowed', '/etc'],
    ['a local path that leads out again', '/tmp/../etc'],
  ])('F123 400: %s', async (_what, url) => {
    const before = await contents(app)
    const problem = expectProblem(await call('POST', '', { url }), 400, 'body.url')
    expect(problem.detail).not.toContain('secret')
    expect(await contents(app)).toEqual(before)
  })

  test('400: a link out of an allowed folder, and a missing path', async () => {
    renameSync(makeRepository(), join(outside, 'repository'))
    symlinkSync(join(outside, 'repository'), join(folder, 'link'))
    expectProblem(await call('POST', '', { url: join(folder, 'link') }), 400, 'body.url')
    expectProblem(await call('POST', '', { url: join(folder, 'nothing') }), 400, 'body.url')
  })

  test('409: an address that is already registered, in any spelling, with the name of the repository', async () => {
    const { id, url } = await add()
    for (const again of [url, `${url}/`, url.replace('git.example.org', 'GIT.example.org')]) {
      const problem = expectProblem(await call('POST', '', { url: again, name: 'other' }), 409)
      expect(problem.detail).toContain(`repository ${id}`)
    }
    expect((await call('GET', `/${id}`)).body.name).not.toBe('other')
  })

  test('of many parallel registrations of one address one succeeds', async () => {
    const body = { url: 'https://git.example.org/acme/at-once.git' }
    const responses = await Promise.all(Array.from({ length: 8 }, () => call('POST', '', body)))
    expect(responses.map(response => response.status).sort()).toEqual([200, ...Array(7).fill(409)])
  })

  test('each organization may register the same address', async () => {
    const { url } = await add()
    const response = await app.call(
      'POST',
      path('', other.org_id),
      { url },
      { authorization: `Bearer ${other.token}` },
    )
    expect(response.status).toBe(200)
  })
})

describe('GET …/repos/{repo_id}', () => {
  test('200: by either path', async () => {
    const { body } = await call('GET', `/${app.repo_id}`)
    expect(Repository.strict().parse(body)).toMatchObject({ id: app.repo_id, name: 'invoice' })
    expect(
      (await app.call('GET', path(`/${app.repo_id}`).replace('/repos/', '/repositories/'))).body,
    ).toEqual(body)
  })

  test('404: of another organization, with the message for a nonexistent one', async () => {
    const foreign = expectProblem(await call('GET', `/${other.repo_id}`), 404)
    expect(foreign.message).toBe('Repository not found.')
    const unknown = expectProblem(await call('GET', '/424242'), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
  })
})

describe('PATCH …/repos/{repo_id}', () => {
  test('200: set values are returned, absent keys are unchanged, null clears', async () => {
    const made = await add()
    const patch = (body: object) => call('PATCH', `/${made.id}`, body)
    const change = {
      name: 'N',
      description: 'D',
      visibility: 'private',
      language: 'PYTHON',
      default_branch: 'x',
      archived: true,
      reasoning_effort: 'low',
      review: 'model',
    }
    let wanted = made
    for (const [key, value] of [...Object.entries(change), ['is_default', true]] as const) {
      wanted = { ...wanted, [key]: value }
      expect(await patch({ [key]: value })).toMatchObject({ status: 200, body: wanted })
      expect((await call('GET', `/${made.id}`)).body).toEqual(wanted)
    }
    const back = {
      description: null,
      visibility: null,
      language: null,
      reasoning_effort: null,
      review: null,
      default_branch: null,
      archived: false,
      is_default: false,
    }
    expect((await patch(back)).body).toEqual({ ...made, name: 'N' })
    expect((await patch({})).body).toEqual({ ...made, name: 'N' })
    const audited = await rows(
      app,
      `select 1
        from audit_entries
        where action = 'repository.updated' and target_id = $1`,
      [`${made.id}`],
    )
    expect(audited.length).toBe(11)
  })

  test('400: errors are named, and nothing is stored', async () => {
    const { id } = await add()
    const before = await contents(app)
    const wrong: [object, string][] = [
      [{ name: null }, 'body.name'],
      [{ name: '' }, 'body.name'],
      [{ archived: 'yes' }, 'body.archived'],
      [{ is_default: null }, 'body.is_default'],
      [{ description: 'x'.repeat(1_001) }, 'body.description'],
      [{ default_branch: '' }, 'body.default_branch'],
      [{ language: 1 }, 'body.language'],
      [{ reasoning_effort: 'HIGH' }, 'body.reasoning_effort'],
      [{ review: true }, 'body.review'],
    ]
    for (const [body, field] of wrong)
      expectProblem(await call('PATCH', `/${id}`, { visibility: 'x', ...body }), 400, field)
    expectProblem(
      await call('PATCH', `/${app.repo_id}`, { default_branch: 'no-such-branch' }),
      400,
      'body.default_branch',
    )
    expect(await contents(app)).toEqual(before)
  })

  test('404: of another organization', async () => {
    const before = await contents(app)
    expectProblem(await call('PATCH', `/${other.repo_id}`, { name: 'theirs', is_default: true }), 404)
    expect(await contents(app)).toEqual(before)
  })
})

describe('DELETE …/repos/{repo_id}', () => {
  test('200: it is deleted, its runs and traces remain, and its address is free', async () => {
    const made = await add()
    await call('PATCH', `/${made.id}`, { is_default: true })
    const run = await createRun(app, { prompt: 'x', repo_id: made.id })
    await putRun(app, run.id, 'completed')
    const { status, body } = await call('DELETE', `/${made.id}`)
    expect({ status, body }).toMatchObject({ status: 200, body: { id: made.id, url: made.url } })
    for (const [method, given] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
      expectProblem(await call(method, `/${made.id}`, given), 404)
    expect(JSON.stringify((await call('GET')).body)).not.toContain(made.url)
    expect((await app.call('GET', `/v1/organizations/${app.org_id}`)).body.default_repo_id).toBeNull()
    const runPath = `/v1/organizations/${app.org_id}/agent/run`
    expectProblem(await app.call('POST', runPath, { prompt: 'x', repo_id: made.id }), 404)
    expect((await app.call('GET', `${runPath}/${run.id}`)).body).toMatchObject({
      status: 'completed',
      repo_id: made.id,
    })
    expect((await app.call('GET', `${runPath}/${run.id}/logs`)).body.total_logs).toBe(1)
    expectProblem(await app.call('POST', `${runPath}/resume`, { agent_run_id: run.id, prompt: 'y' }), 409)
    const again = await add({ url: made.url })
    expect(again.id).not.toBe(made.id)
  })

  test('404: of another organization', async () => {
    const before = await contents(app)
    expectProblem(await call('DELETE', `/${other.repo_id}`), 404)
    expect(await contents(app)).toEqual(before)
  })

  test.each(['queued', 'starting', 'running', 'waiting', 'paused', 'cancelling'] as const)(
    '409: with a run that is %s',
    async status => {
      const { id } = await add()
      const run = await createRun(app, { prompt: 'x', repo_id: id })
      await putRun(app, run.id, status)
      const before = await contents(app)
      expectProblem(await call('DELETE', `/${id}`), 409)
      expect(await contents(app)).toEqual(before)
    },
  )

  test('a run that is created in parallel keeps the repository, or is not created', async () => {
    for (let round = 0; round < 6; round++) {
      const { id } = await add()
      const create = () =>
        app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x', repo_id: id })
      const [removed, ...created] = await Promise.all([
        call('DELETE', `/${id}`),
        create(),
        create(),
        create(),
      ])
      const made = created.filter(response => response.status === 200).length
      for (const response of created) expect([200, 404]).toContain(response.status)
      expect({ removed: removed.status === 200, made: made > 0 }).not.toEqual({ removed: true, made: true })
    }
  })
})

describe('an archived repository', () => {
  test('accepts no new runs, and is not the default when none is named', async () => {
    await using two = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    const repos = `/v1/organizations/${two.org_id}/repos`
    const second = {
      name: 'b',
      full_name: 'a/b',
      url: '/nowhere/b.git',
      kind: 'local',
      description: null,
      sample: false,
    } as const
    const { id } = await insertRepository(two.db, { ...second, organization_id: two.org_id })
    const create = (body: object = {}) =>
      two.call('POST', `/v1/organizations/${two.org_id}/agent/run`, { prompt: 'x', ...body })
    expectProblem(await create(), 400, 'body.repo_id')
    await two.call('PATCH', `${repos}/${id}`, { archived: true })
    expect((await create()).body).toMatchObject({ repo_id: two.repo_id })
    expect((await two.call('GET', `${repos}/${two.repo_id}`)).body.is_default).toBe(true)
    expectProblem(await create({ repo_id: id }), 409)
    await two.call('PATCH', `${repos}/${id}`, { is_default: true })
    expectProblem(await create(), 409)
  })
})
