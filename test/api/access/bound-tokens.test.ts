import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { reachOf } from '../../../src/core/access/reach.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertOrganization } from '../../../src/store/access/organizations.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { tokenCalls } from '../contract/every-endpoint.ts'
import { expectProblem } from '../expect-problem.ts'
import { addOldMembership } from '../members/people.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { addArtifact, addPullRequest } from './second-organization.ts'

let app: App
/** Another repository of the same organization, and a run in it. */
let other: { repo_id: number; run_id: number; pr_id: number; artifact_id: number }
let own_run: number
let own_pr: number
const TOKEN = 'a-token-bound-to-one-repository'
const call = (method: string, path: string, body?: unknown) =>
  app.call(method, path, body, { authorization: `Bearer ${TOKEN}` })
const org = (path: string) => `/v1/organizations/${app.org_id}${path}`
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const repo_id = await putRepository(app, 'other')
  const token = {
    user_id: app.user_id,
    kind: 'personal',
    name: 'bound',
    wire_profile: 'standard',
    expires_in_seconds: null,
  } as const
  await insertToken(app.db, {
    ...token,
    digest: digest(TOKEN),
    organization_id: app.org_id,
    repository_ids: [app.repo_id],
  })
  const { id: run_id } = await createRun(app, { prompt: 'x', repo_id })
  const owners = { organization_id: app.org_id, repository_id: repo_id, run_id }
  other = {
    repo_id,
    run_id,
    pr_id: await addPullRequest(app.db, owners, 'theirs'),
    artifact_id: await addArtifact(app.db, owners, 'theirs'),
  }
  own_run = (await createRun(app, { prompt: 'x', repo_id: app.repo_id })).id
  own_pr = await addPullRequest(app.db, { ...owners, repository_id: app.repo_id, run_id: own_run }, 'mine')
})
afterAll(() => app[Symbol.asyncDispose]())

describe('200', () => {
  test('sees its own repositories and their runs only, counted as if there were no others', async () => {
    const repos = await call('GET', org('/repos'))
    expect(repos.status).toBe(200)
    expect([repos.body.total, repos.body.items.map((item: { id: number }) => item.id)]).toEqual([
      1,
      [app.repo_id],
    ])
    const runs = await call('GET', org('/agent/runs'))
    expect(runs.body.items.map((item: { id: number }) => item.id)).toEqual([own_run])
    expect(runs.body.total).toBe(1)
    expect((await call('GET', org(`/agent/runs?repo_id=${app.repo_id}`))).body.total).toBe(1)
    expect(
      (await call('GET', org(`/agent/runs?repo_id=${app.repo_id}&parent_run_id=${own_run},${own_run}`)))
        .status,
    ).toBe(200)
    for (const query of [
      `repo_id=${app.repo_id},${other.repo_id}`,
      `parent_run_id=${own_run}&parent_run_id=${other.run_id}`,
    ])
      expectProblem(await call('GET', org(`/agent/runs?${query}`)), 404)
    const proposed = await call('GET', org('/prs'))
    expect([proposed.body.total, proposed.body.items.map((item: { id: number }) => item.id)]).toEqual([
      1,
      [own_pr],
    ])
  })

  test('edits its own pull requests, and others are reported as unknown', async () => {
    const edit = async (path: string) => (await call('PATCH', org(path), { state: 'open' })).body
    expect(await edit(`/prs/${own_pr}`)).toMatchObject({ success: true })
    const unknown = await edit('/prs/999999')
    expect(unknown.success).toBe(false)
    expect(await edit(`/prs/${other.pr_id}`)).toEqual(unknown)
    expect(await edit(`/repos/${other.repo_id}/prs/${other.pr_id}`)).toEqual(unknown)
    expect(await edit(`/repos/${app.repo_id}/prs/${other.pr_id}`)).toEqual(unknown)
  })

  test('sees the organization that it is bound to and no other organization of its user', async () => {
    const { id } = await insertOrganization(app.db, 'Second')
    await addOldMembership(app, id, app.user_id, 'ADMIN')
    expect((await app.call('GET', '/v1/organizations')).body.total).toBe(2)
    const bound = await call('GET', '/v1/organizations')
    expect([bound.body.total, bound.body.items.map((item: { id: number }) => item.id)]).toEqual([
      1,
      [app.org_id],
    ])
    expectProblem(await call('GET', `/v1/organizations/${id}`), 403)
  })

  test('creates in its own repository, without naming it', async () => {
    const response = await call('POST', org('/agent/run'), { prompt: 'mine' })
    expect([response.status, response.body.repo_id]).toEqual([200, app.repo_id])
  })
})

describe('404', () => {
  test('every operation treats objects of another repository as nonexistent, and changes nothing', async () => {
    const before = await contents(app)
    const named = tokenCalls({ org_id: app.org_id, user_id: app.user_id, ...other }).filter(
      ({ name }) => reachOf(endpoints[name]) === 'named',
    )
    const missing = tokenCalls({
      org_id: app.org_id,
      user_id: 999_999,
      repo_id: 999_999,
      run_id: 999_999,
      pr_id: 999_999,
      artifact_id: 999_999,
    })
    expect(named.length).toBeGreaterThan(5)
    for (const item of named) {
      const never = missing.find(({ name }) => name === item.name)
      const [there, nowhere] = [
        await call(item.method, item.path, item.body),
        await call(item.method, never?.path ?? '', never?.body),
      ]
      expect({ name: item.name, status: there.status, detail: there.body.detail }).toEqual({
        name: item.name,
        status: nowhere.status,
        detail: nowhere.body.detail,
      })
      expect(there.status).not.toBe(500)
    }
    expectProblem(await call('POST', org('/agent/run'), { prompt: 'x', repo_id: other.repo_id }), 404)
    expectProblem(await call('POST', org('/agent/run'), { prompt: 'x', parent_run_id: other.run_id }), 404)
    expect(await contents(app)).toEqual(before)
  })
})

describe('403', () => {
  test('operations on the organization, or without a repository', async () => {
    const before = await contents(app)
    const closed = tokenCalls({
      org_id: app.org_id,
      user_id: app.user_id,
      repo_id: app.repo_id,
      run_id: own_run,
      pr_id: own_pr,
      artifact_id: 1,
    }).filter(({ name }) => reachOf(endpoints[name]) === 'none' && 'org_id' in endpoints[name].params.shape)
    for (const item of closed)
      expect({ name: item.name, status: (await call(item.method, item.path, item.body)).status }).toEqual({
        name: item.name,
        status: 403,
      })
    expectProblem(await call('POST', org('/agent/run'), { prompt: 'x', repoless: true }), 403)
    expectProblem(await call('GET', org('/events')), 403)
    expect(await contents(app)).toEqual(before)
  })
})

test('operations that a bound token may use read the organization, and nothing else', () => {
  const free = (Object.values(endpoints) as Endpoint[]).filter(
    row => row.access === 'token' && row.reach === undefined && reachOf(row) === 'free',
  )
  for (const row of free) expect([row.method, row.scope ?? 'org:read']).toEqual(['GET', 'org:read'])
})
