import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CheckCommands, PullRequestChecks } from '../../../src/contract/pull-requests/checks.ts'
import { type CheckReport, saveCheck } from '../../../src/store/pull-requests/checks.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from '../members/people.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const org = () => `/v1/organizations/${app.org_id}`
const at = (repo_id = app.repo_id) => `${org()}/repos/${repo_id}/checks`
const put = (checks: unknown) => app.call('PUT', at(), { checks })

describe('the checks of a repository', () => {
  test('200: none at first, then the set ones, in their order', async () => {
    const { status, body } = await app.call('GET', at())
    const nothing = { checks: [], updated_at: null, updated_by: null }
    expect({ status, body: CheckCommands.strict().parse(body) }).toEqual({ status: 200, body: nothing })
    const checks = [
      { name: 'test', command: 'npm test\nnpm run e2e', timeout_seconds: 60 },
      { name: 'lint', command: 'make lint', timeout_seconds: 3_600 },
    ]
    expect(await put(checks)).toMatchObject({ status: 200, body: { checks, updated_by: app.user_id } })
    expect((await app.call('GET', at())).body.checks).toEqual(checks)
    expect((await put([{ name: ' a ', command: ' b ' }])).body.checks).toEqual([
      { name: 'a', command: 'b', timeout_seconds: 600 },
    ])
    const settings = await app.call('GET', `${org()}/repos/check-suite-settings?repo_id=${app.repo_id}`)
    expect(settings.body.available_check_suite_names).toEqual(['a'])
    expect((await put([])).body.checks).toEqual([])
  })

  test('400: invalid or out of bounds, and nothing changes', async () => {
    const before = await contents(app)
    expectProblem(await app.call('PUT', at(), {}), 400, 'body.checks')
    const good = { name: 'a', command: 'b' }
    for (const [wrong, field] of [
      [{ command: 'b' }, 'name'],
      [{ ...good, name: ' ' }, 'name'],
      [{ ...good, name: 'x'.repeat(201) }, 'name'],
      [{ ...good, command: '' }, 'command'],
      [{ ...good, command: 'a\0b' }, 'command'],
      [{ ...good, command: 'x'.repeat(10_001) }, 'command'],
      [{ ...good, timeout_seconds: 0 }, 'timeout_seconds'],
      [{ ...good, timeout_seconds: 3_601 }, 'timeout_seconds'],
    ] as const)
      expectProblem(await put([good, wrong]), 400, `body.checks.1.${field}`)
    expectProblem(await put([good, { ...good, command: 'c' }]), 400, 'body.checks')
    expectProblem(
      await put(Array.from({ length: 21 }, (_, n) => ({ ...good, name: `${n}` }))),
      400,
      'body.checks',
    )
    expect(await contents(app)).toEqual(before)
  })

  test('403 without permission, 404 for a repository of another organization; the audit log has the names and not the commands', async () => {
    const reader = await addPerson(app, 'READER')
    expect((await reader.request('GET', `/repos/${app.repo_id}/checks`)).status).toBe(200)
    expectProblem(await reader.request('PUT', `/repos/${app.repo_id}/checks`, { checks: [] }), 403)
    expectProblem(await app.call('PUT', at(other.repo_id), { checks: [] }), 404)
    expectProblem(await app.call('GET', at(other.repo_id)), 404)
    await put([{ name: 'test', command: 'echo long' }])
    const [last] = await rows(
      app,
      `select action, detail
        from audit_entries
        where action = 'check_commands.updated'
        order by id desc
        limit 1`,
    )
    expect(JSON.parse(last?.detail)).toEqual({ names: ['test'] })
  })

  test('they are deleted with their repository', async () => {
    const { body } = await app.call('POST', `${org()}/repos`, { url: 'https://git.example.com/goes.git' })
    await app.call('PUT', at(body.id), { checks: [{ name: 'a', command: 'b' }] })
    expect((await app.call('DELETE', `${org()}/repos/${body.id}`)).status).toBe(200)
    expect(await rows(app, 'select 1 from check_commands where repository_id = $1', [body.id])).toEqual([])
  })
})

describe('the checks of a pull request', () => {
  const report = (name: string, fields: Partial<CheckReport> = {}): CheckReport => ({
    head_sha: '',
    source: 'github',
    name,
    app: 'actions',
    status: 'completed',
    conclusion: 'success',
    url: null,
    log_excerpt: null,
    attempt: 1,
    started_at: null,
    completed_at: null,
    ...fields,
  })
  const save = (head_sha: string, name: string, fields: Partial<CheckReport> = {}) =>
    saveCheck(app.db, app.org_id, app.repo_id, report(name, { head_sha, ...fields }))
  async function propose(head_sha: string): Promise<string> {
    const { id: run_id } = await createRun(app, { prompt: 'x' })
    const id = await putPullRequest(app, run_id)
    await rows(app, 'update pull_requests set head_sha = $2 where id = $1', [id, head_sha])
    return `${org()}/prs/${id}`
  }

  test('200: the checks of its head, by name; their combined result, in the pull request and in lists', async () => {
    const head = 'a'.repeat(40)
    const path = await propose(head)
    const nothing = { state: 'none', passed: 0, failed: 0, pending: 0, unreadable: [] }
    expect((await app.call('GET', `${path}/checks`)).body).toEqual({ ...nothing, head_sha: head, items: [] })
    await save(head, 'test', { conclusion: 'failure', log_excerpt: 'AssertionError' })
    await save(head, 'build', { status: 'in_progress', conclusion: null })
    await save(head, 'docs', { conclusion: 'failure' })
    await save('b'.repeat(40), 'other')
    await app.call('PUT', `${org()}/repos/check-suite-settings?repo_id=${app.repo_id}`, {
      ignored_checks: ['docs'],
    })
    const { status, body } = await app.call('GET', `${path}/checks`)
    expect({ status, ...PullRequestChecks.strict().parse(body) }).toMatchObject({
      status: 200,
      state: 'failure',
      passed: 0,
      failed: 1,
      pending: 1,
      items: [
        { name: 'build' },
        { name: 'docs' },
        { name: 'test', log_excerpt: 'AssertionError', completed_at: expect.any(String) },
      ],
    })
    const checks = { state: 'failure', passed: 0, failed: 1, pending: 1, unreadable: [] }
    const pull_request = await app.call('GET', path)
    expect(pull_request.body.checks).toEqual(checks)
    const list = await app.call('GET', `${org()}/prs`)
    expect(list.body.items.find((pr: { id: number }) => pr.id === pull_request.body.id).checks).toEqual(
      checks,
    )
    const earlier = await app.call('GET', `${path}/checks?head_sha=${'b'.repeat(40)}`)
    expect(earlier.body).toMatchObject({ state: 'success', items: [{ name: 'other' }] })
    expectProblem(await app.call('GET', `${path}/checks?head_sha=main`), 400, 'query.head_sha')
  })

  test('reports that come twice, late or out of order change nothing that is newer', async () => {
    const head_sha = 'c'.repeat(40)
    const path = await propose(head_sha)
    const shown = async () => (await app.call('GET', `${path}/checks`)).body.items[0]
    expect(await save(head_sha, 'test', { conclusion: 'failure' })).toBe(true)
    expect(await save(head_sha, 'test', { conclusion: 'failure' })).toBe(false)
    expect(await save(head_sha, 'test', { status: 'in_progress', conclusion: null })).toBe(false)
    expect(await shown()).toMatchObject({ conclusion: 'failure', attempt: 1 })
    expect(await save(head_sha, 'test', { status: 'queued', conclusion: null, attempt: 2 })).toBe(true)
    expect(await save(head_sha, 'test', { attempt: 1 })).toBe(false)
    expect(await shown()).toMatchObject({
      status: 'queued',
      conclusion: null,
      attempt: 2,
      started_at: null,
      completed_at: null,
    })
    expect(await save(head_sha, 'test', { attempt: 2 })).toBe(true)
    expect(await shown()).toMatchObject({ conclusion: 'success', attempt: 2, started_at: expect.any(String) })
  })

  test('404: a pull request of another organization', async () => {
    expectProblem(await app.call('GET', `${org()}/prs/424242/checks`), 404)
  })
})
