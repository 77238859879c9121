import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  EditPullRequestResponse,
  PullRequest,
  PullRequestPage,
} from '../../../src/contract/pull-requests/pull-requests.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { recordReview } from '../../../src/store/pull-requests/pull-request-moves.ts'
import { rows } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { type ForgeApp, type Proposal, startForgeApp } from '../repositories/proposals.ts'
import { putRepository } from '../repositories/put-repository.ts'

let app: ForgeApp
let other: Tenant
beforeAll(async () => {
  app = await startForgeApp()
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const prs = (path = '', org_id = app.org_id) => `/v1/organizations/${org_id}/prs${path}`
const list = (query = '') => app.call('GET', prs(query))
const get = (id: number | string) => app.call('GET', prs(`/${id}`))
const edit = (id: number | string, body: unknown) => app.call('PATCH', prs(`/${id}`), body)
const merge = (id: number, body?: unknown) => app.call('POST', prs(`/${id}/merge`), body)
const change = (() => {
  let n = 0
  return () => app.propose({ [`change-${++n}.txt`]: 'x\n' })
})()

/** A token of a user with a role, or one with fewer permissions. */
async function tokenOf(
  role: 'ADMIN' | 'READER',
  bounds: { scopes?: string[]; repository_ids?: number[] } = {},
) {
  const token = `token-of-${role}-${JSON.stringify(bounds)}`.padEnd(40, 'x')
  const { id: user_id } = await insertUser(app.db, { full_name: role })
  await insertMembership(app.db, app.org_id, user_id, role)
  const owned = {
    user_id,
    kind: 'personal',
    name: role,
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: null,
  } as const
  await insertToken(app.db, { ...owned, organization_id: app.org_id, ...bounds })
  return { authorization: `Bearer ${token}` }
}

describe('200', () => {
  test('a page: newest first, with every key, and nothing computed for it', async () => {
    const first = await change()
    const second = await change()
    const { status, body } = await list('?limit=2')
    expect(status).toBe(200)
    PullRequestPage.strict().parse(body)
    expect(body).toMatchObject({ page: 1, size: 2, items: [{ id: second.id }, { id: first.id }] })
    expect(body.items.map((item: PullRequest) => item.mergeable)).toEqual(['unknown', 'unknown'])
    expect((await list('?limit=1&skip=1')).body.items).toEqual([body.items[1]])
    expect((await list('?size=1&page=2')).body.items).toEqual([body.items[1]])
    expect((await list(`?skip=${body.total}`)).body).toMatchObject({ items: [], total: body.total })
  })

  test('a page by repository, state and run', async () => {
    const { id, run_id } = await change()
    await edit(id, { state: 'closed' })
    const found = async (query: string) => (await list(query)).body.items.map((item: PullRequest) => item.id)
    expect(await found(`?agent_run_id=${run_id}`)).toEqual([id])
    expect(await found(`?agent_run_id=${run_id}&state=closed&repo_id=${app.repo_id}`)).toEqual([id])
    expect(await found(`?agent_run_id=${run_id}&state=open`)).toEqual([])
    expect(
      await found(`?agent_run_id=${run_id},999&state=open,closed&repo_id=${app.repo_id}&repo_id=999`),
    ).toEqual([id])
    expect(await found(`?agent_run_id=${run_id}&repo_id=${other.repo_id}`)).toEqual([])
    expect(await found(`?agent_run_id=${other.run_id}`)).toEqual([])
  })

  test('a page by review; a verdict on an earlier commit does not count', async () => {
    const [passed, failed, moved] = [await change(), await change(), await change()]
    await recordReview(app.db, app.org_id, passed.id, { head_sha: passed.head_sha, verdict: 'pass' })
    await recordReview(app.db, app.org_id, failed.id, { head_sha: failed.head_sha, verdict: 'fail' })
    await recordReview(app.db, app.org_id, moved.id, { head_sha: moved.base_sha, verdict: 'pass' })
    const found = async (review: string) =>
      (await list(`?review=${review}`)).body.items.map((item: PullRequest) => [item.id, item.review])
    expect(await found('pass')).toEqual([[passed.id, 'pass']])
    expect(await found('fail,pass')).toEqual([
      [failed.id, 'fail'],
      [passed.id, 'pass'],
    ])
    expect((await found('none'))[0]).toEqual([moved.id, 'none'])
  })

  test('one, with every field', async () => {
    const { id, run_id, branch, head_sha, base_sha } = await change()
    const { status, body } = await get(id)
    expect(status).toBe(200)
    expect(PullRequest.strict().parse(body)).toMatchObject({
      id,
      organization_id: app.org_id,
      repo_id: app.repo_id,
      agent_run_id: run_id,
      title: `Change ${run_id}`,
      body: 'Because.',
      state: 'open',
      head_branch: branch,
      base_branch: 'main',
      base_sha,
      head_sha,
      merge_sha: null,
      merged_at: null,
      files_changed: 1,
      additions: 1,
      deletions: 1,
      url: `${app.base_url}/agent/trace/${run_id}?view=changes`,
    })
    const run = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run_id}`)
    expect(run.body.github_pull_requests).toMatchObject([{ id, state: 'open', number: body.number }])
  })

  test('a single one reports its mergeability according to the last fetch', async () => {
    const clean = await change()
    const clash = await app.propose({ 'a.txt': 'theirs\n' })
    app.put('main', { 'a.txt': 'ours\n' })
    const nowhere = await app.propose({ 'c.txt': 'c\n' }, { base_branch: 'never' })
    await merge((await change()).id)
    expect(await mergeable(clean)).toBe('clean')
    expect(await mergeable(clash)).toBe('conflict')
    expect(await mergeable(nowhere)).toBe('unknown')
    await merge(clean.id)
    expect(await mergeable(clean)).toBe('unknown')
  })
  const mergeable = async ({ id }: Proposal) => (await get(id)).body.mergeable

  test.each([
    ['open', 'closed', 'closed'],
    ['closed', 'open', 'open'],
    ['open', 'draft', 'draft'],
    ['draft', 'ready_for_review', 'open'],
    ['open', 'open', 'open'],
  ])('one that is %s and is set to %s is %s, by both paths', async (before, state, after) => {
    for (const path of ['/prs', `/repos/${app.repo_id}/prs`]) {
      const { id, run_id } = await change()
      if (before !== 'open') await edit(id, { state: before })
      const { status, body } = await app.call('PATCH', `/v1/organizations/${app.org_id}${path}/${id}`, {
        state,
      })
      expect(status).toBe(200)
      expect(EditPullRequestResponse.strict().parse(body)).toEqual({
        success: true,
        url: `${app.base_url}/agent/trace/${run_id}?view=changes`,
        number: body.number,
        title: `Change ${run_id}`,
        state: after,
        error: null,
      })
      expect((await get(id)).body).toMatchObject({ state: after, number: body.number })
    }
  })

  test('an edit causes an event, an audit entry and a newer run, and one that changes nothing causes none of them', async () => {
    const { id, run_id } = await change()
    const run = () => app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run_id}`)
    const { updated_at } = (await run()).body
    await edit(id, { state: 'closed' })
    expect((await run()).body).toMatchObject({ github_pull_requests: [{ state: 'closed' }] })
    expect((await run()).body.updated_at > updated_at).toBe(true)
    const events = await rows<{ type: string; body: string }>(
      app,
      'select type, body from events where run_id = $1 order by seq',
      [run_id],
    )
    expect(events.map(event => [event.type, JSON.parse(event.body)]).at(-1)).toEqual([
      'agent_run.pull_request',
      { pr_number: (await get(id)).body.number, state: 'closed', user_id: app.user_id },
    ])
    const audited = `select action, user_id, detail
      from audit_entries
      where target_type = 'pull_request' and target_id = $1`
    expect(await rows(app, audited, [String(id)])).toEqual([
      { action: 'pull_request.edited', user_id: app.user_id, detail: '{"from":"open","to":"closed"}' },
    ])
    const before = await contents(app)
    expect((await edit(id, { state: 'closed' })).body.success).toBe(true)
    expect(await contents(app)).toEqual(before)
  })

  test('an edit that is not possible is `success: false` with the reason', async () => {
    const { id } = await change()
    const unknown = {
      success: false,
      url: null,
      number: null,
      title: null,
      state: null,
      error: 'Pull request not found.',
    }
    const before = await contents(app)
    for (const strange of [424_242, other.pr_id])
      expect((await edit(strange, { state: 'closed' })).body).toEqual(unknown)
    for (const repo_id of [other.repo_id, 424_242]) {
      const elsewhere = await app.call(
        'PATCH',
        `/v1/organizations/${app.org_id}/repos/${repo_id}/prs/${id}`,
        { state: 'closed' },
      )
      expect([elsewhere.status, elsewhere.body]).toEqual([200, unknown])
    }
    expect(await contents(app)).toEqual(before)
    await edit(id, { state: 'closed' })
    const refused = { success: false, state: 'closed', error: 'The pull request is closed; open it first.' }
    expect((await edit(id, { state: 'ready_for_review' })).body).toMatchObject(refused)
    await edit(id, { state: 'open' })
    await merge(id)
    for (const state of ['open', 'closed', 'draft', 'ready_for_review'])
      expect((await edit(id, { state })).body).toMatchObject({
        success: false,
        state: 'merged',
        error: expect.stringContaining('merged'),
      })
  })
})

describe('400', () => {
  test('an invalid query or id', async () => {
    for (const [query, field] of [
      ['state=done', 'state'],
      ['state=open&state=done', 'state'],
      ['repo_id=x', 'repo_id'],
      ['agent_run_id=-1', 'agent_run_id'],
      ['limit=101', 'limit'],
    ])
      expectProblem(await list(`?${query}`), 400, `query.${field}`)
    for (const id of ['x', '01', '1e2', '-1']) {
      expectProblem(await get(id), 400, 'path.pr_id')
      expectProblem(await edit(id, { state: 'open' }), 400, 'path.pr_id')
    }
  })

  test('an invalid body changes nothing', async () => {
    const { id } = await change()
    const before = await contents(app)
    for (const body of [{}, { state: 'merged' }, { state: 'OPEN' }, { state: null }, { state: ['open'] }])
      expectProblem(await edit(id, body), 400, 'body.state')
    expectProblem(await edit(id, undefined), 400, 'body')
    expectProblem(await merge(id, { method: 'rebase' }), 400, 'body.method')
    for (const expected_head_sha of ['main', 'a'.repeat(39), 'A'.repeat(40), 1, `${'a'.repeat(40)}\n`])
      expectProblem(await merge(id, { expected_head_sha }), 400, 'body.expected_head_sha')
    for (const body of [[], 'merge', 1, null]) expectProblem(await merge(id, body), 400, 'body')
    expect(await contents(app)).toEqual(before)
  })
})

describe('403', () => {
  test('a user of another organization reaches none of them', async () => {
    const { id } = await change()
    const headers = { authorization: `Bearer ${other.token}` }
    const before = await contents(app)
    expectProblem(await app.call('GET', prs(), undefined, headers), 403)
    expectProblem(await app.call('GET', prs(`/${id}`), undefined, headers), 403)
    expectProblem(await app.call('POST', prs(`/${id}/merge`), {}, headers), 403)
    expectProblem(await app.call('PATCH', prs(`/${id}`), { state: 'closed' }, headers), 403)
    expect(await contents(app)).toEqual(before)
  })

  test('a read-only user may read, and neither merge nor edit', async () => {
    const { id } = await change()
    for (const headers of [await tokenOf('READER'), await tokenOf('ADMIN', { scopes: ['runs:read'] })]) {
      expect((await app.call('GET', prs(), undefined, headers)).status).toBe(200)
      expect((await app.call('GET', prs(`/${id}`), undefined, headers)).status).toBe(200)
      const before = await contents(app)
      expect(expectProblem(await app.call('POST', prs(`/${id}/merge`), {}, headers), 403).detail).toContain(
        'runs:write',
      )
      expectProblem(await app.call('PATCH', prs(`/${id}`), { state: 'closed' }, headers), 403)
      expect(await contents(app)).toEqual(before)
    }
  })
})

describe('404', () => {
  test('a nonexistent one and one of another organization, with the same message', async () => {
    const before = await contents(app)
    for (const id of [424_242, other.pr_id]) {
      expect(expectProblem(await get(id), 404).detail).toBe('Pull request not found.')
      expect(expectProblem(await merge(id), 404).detail).toBe('Pull request not found.')
    }
    expect(await contents(app)).toEqual(before)
  })

  test('one of a repository that the token is not bound to', async () => {
    const { id } = await change()
    const elsewhere = await putRepository(app, 'elsewhere')
    const headers = await tokenOf('ADMIN', { repository_ids: [elsewhere] })
    expectProblem(await app.call('GET', prs(`/${id}`), undefined, headers), 404)
    expectProblem(await app.call('POST', prs(`/${id}/merge`), {}, headers), 404)
    expect((await app.call('GET', prs(), undefined, headers)).body).toMatchObject({ items: [], total: 0 })
    expect((await app.call('PATCH', prs(`/${id}`), { state: 'closed' }, headers)).body.success).toBe(false)
    const mine = await tokenOf('ADMIN', { repository_ids: [app.repo_id, elsewhere] })
    expect((await app.call('GET', prs(`/${id}`), undefined, mine)).status).toBe(200)
  })
})
