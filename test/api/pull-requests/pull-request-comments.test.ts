import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  PullRequestComment,
  PullRequestCommentPage,
} from '../../../src/contract/pull-requests/pull-request-contents.ts'
import { insertComment } from '../../../src/store/pull-requests/pull-request-comments.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson, type Caller } from '../members/people.ts'
import { putPullRequest } from './put-pull-request.ts'

let app: App
let other: Tenant
let ada: Caller
let run_id: number
let pr_id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  ada = await addPerson(app, 'MEMBER')
  run_id = (await createRun(app, { prompt: 'x' })).id
  pr_id = await putPullRequest(app, run_id)
})
afterAll(() => app[Symbol.asyncDispose]())

const comments = (id = pr_id) => `/v1/organizations/${app.org_id}/prs/${id}/comments`
const comment = (body: unknown, headers: Record<string, string> = {}, id = pr_id) =>
  app.call('POST', comments(id), body, headers)
const list = (query = '') => app.call('GET', comments() + query)

describe('200', () => {
  test('a comment on the pull request, on a file and on a line, oldest first', async () => {
    const { status, body } = await comment({ body: ' Why? ' })
    expect(status).toBe(200)
    expect(PullRequestComment.strict().parse(body)).toMatchObject({
      pr_id,
      user_id: app.user_id,
      agent_run_id: null,
      body: 'Why?',
      path: null,
      line: null,
      side: null,
      head_sha: 'b',
      author_name: expect.stringMatching(/./),
    })
    expect(body.updated_at).toBe(body.created_at)
    const file = (await comment({ body: 'x', path: 'a.txt' })).body
    const line = (await comment({ body: '<script>alert(1)</script>', path: 'a.txt', line: 3 })).body
    expect(line).toMatchObject({ path: 'a.txt', line: 3, side: 'RIGHT', body: '<script>alert(1)</script>' })
    expect((await comment({ body: 'x', path: 'a.txt', line: 3, side: 'LEFT' })).body.side).toBe('LEFT')
    const page = PullRequestCommentPage.strict().parse((await list('?limit=3')).body)
    expect(page.items).toEqual([body, file, line])
    expect((await list('?skip=1&limit=1')).body).toMatchObject({ items: [{ id: file.id }], total: 4 })
  })

  test('of a run, by its number', async () => {
    const nowhere = { path: null, line: null, side: null, head_sha: 'b' }
    await insertComment(app.db, app.org_id, {
      pull_request_id: pr_id,
      user_id: null,
      run_id,
      body: 'Done.',
      ...nowhere,
    })
    const { items } = (await list()).body
    expect(items.at(-1)).toMatchObject({
      user_id: null,
      agent_run_id: run_id,
      author_name: `Run ${run_id}`,
      body: 'Done.',
    })
  })

  test('changed and deleted by its author, each with an event for the page and a row in the audit log', async () => {
    const { body: made } = await ada.request('POST', `/prs/${pr_id}/comments`, { body: 'a' })
    const changed = await ada.request('PATCH', `/prs/${pr_id}/comments/${made.id}`, { body: 'b' })
    expect(changed.body).toEqual({ ...made, body: 'b', updated_at: changed.body.updated_at })
    expect(changed.body.updated_at > made.updated_at).toBe(true)
    const before = await contents(app)
    expect((await ada.request('PATCH', `/prs/${pr_id}/comments/${made.id}`, { body: 'b' })).body).toEqual(
      changed.body,
    )
    expect(await contents(app)).toEqual(before)
    expect((await ada.request('DELETE', `/prs/${pr_id}/comments/${made.id}`)).body).toEqual(changed.body)
    expect((await list()).body.items.map((item: PullRequestComment) => item.id)).not.toContain(made.id)
    const events = await rows<{ body: string }>(
      app,
      `select body
        from events
        where run_id = $1 and type = 'agent_run.updated'
        order by seq desc
        limit 3`,
      [run_id],
    )
    expect(events.map(({ body }) => JSON.parse(body).comment_id)).toEqual([made.id, made.id, made.id])
    const audited = await rows(app, `select action from audit_entries where user_id = $1 order by id`, [
      ada.user_id,
    ])
    expect(audited.map(row => row.action)).toEqual([
      'pull_request.commented',
      'pull_request.comment_edited',
      'pull_request.comment_deleted',
    ])
  })

  test('once for a key, however often it is sent', async () => {
    const key = { 'idempotency-key': 'comment-1' }
    const responses = await Promise.all(Array.from({ length: 5 }, () => comment({ body: 'once' }, key)))
    expect(new Set(responses.map(response => response.body.id)).size).toBe(1)
    expect(
      (await list('?limit=100')).body.items.filter((item: PullRequestComment) => item.body === 'once'),
    ).toHaveLength(1)
  })

  test('without the values of secrets', async () => {
    await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/DEPLOY_KEY`, {
      value: 'correct-horse-battery',
    })
    const { body } = await comment({ body: 'It is correct-horse-battery, by the way.' })
    expect(body.body).not.toContain('correct-horse')
  })

  test('remains after its run is deleted', async () => {
    const ended = (await createRun(app, { prompt: 'x' })).id
    const id = await putPullRequest(app, ended)
    const nowhere = { path: null, line: null, side: null, head_sha: 'b' }
    await insertComment(app.db, app.org_id, {
      pull_request_id: id,
      user_id: null,
      run_id: ended,
      body: 'Done.',
      ...nowhere,
    })
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: ended })
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${ended}`)).status).toBe(200)
    expect((await app.call('GET', comments(id))).body.items).toMatchObject([
      { agent_run_id: null, author_name: 'A run that is deleted' },
    ])
    expect((await comment({ body: 'still here' }, {}, id)).status).toBe(200)
  })
})

test('400 for an invalid comment', async () => {
  expectProblem(await comment({}), 400, 'body.body')
  expectProblem(await comment({ body: '  ' }), 400, 'body.body')
  expectProblem(await comment({ body: 'x'.repeat(65_537) }), 400, 'body.body')
  expectProblem(await comment({ body: 'a\0' }), 400, 'body.body')
  expectProblem(await comment({ body: 'x', line: 1 }), 400, 'body.line')
  expectProblem(await comment({ body: 'x', path: 'a', line: 0 }), 400, 'body.line')
  expectProblem(await comment({ body: 'x', path: 'a', line: 1e12 }), 400, 'body.line')
  expectProblem(await comment({ body: 'x', path: 'a', side: 'LEFT' }), 400, 'body.side')
})

test('403 for a comment of another user, for every caller, and for a read-only one', async () => {
  const { body } = await ada.request('POST', `/prs/${pr_id}/comments`, { body: 'mine' })
  expectProblem(await app.call('PATCH', `${comments()}/${body.id}`, { body: 'yours' }), 403)
  expectProblem(await app.call('DELETE', `${comments()}/${body.id}`), 403)
  const reader = await addPerson(app, 'READER')
  expectProblem(await reader.request('POST', `/prs/${pr_id}/comments`, { body: 'x' }), 403)
  expect((await reader.request('GET', `/prs/${pr_id}/comments`)).status).toBe(200)
})

test('404 for a missing comment or pull request, or one of another pull request', async () => {
  const { body } = await comment({ body: 'here' })
  const elsewhere = await putPullRequest(app, (await createRun(app, { prompt: 'x' })).id)
  for (const path of [
    `${comments()}/424242`,
    `${comments(elsewhere)}/${body.id}`,
    `${comments()}/${other.comment_id}`,
  ]) {
    expectProblem(await app.call('PATCH', path, { body: 'x' }), 404)
    expectProblem(await app.call('DELETE', path), 404)
  }
  for (const id of [424_242, other.pr_id]) {
    expectProblem(await app.call('GET', comments(id)), 404)
    expectProblem(await comment({ body: 'x' }, {}, id), 404)
  }
})
