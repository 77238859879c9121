import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunPage } from '../../../src/contract/runs/runs.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { saveCheck } from '../../../src/store/pull-requests/checks.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'
import { putRepository } from '../repositories/put-repository.ts'
import { putRun } from './put-run.ts'

let app: App
let other: Tenant
let colleague: number
let second_repo: number
/** Seven runs, oldest first. */
let ids: number[]
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  colleague = (await insertUser(app.db, { full_name: 'Colleague' })).id
  await insertMembership(app.db, app.org_id, colleague, 'MEMBER')
  second_repo = await putRepository(app, 'b')
  ids = []
  for (let i = 0; i < 7; i++)
    ids.push(
      (
        await createRun(app, {
          prompt: `prompt ${i} Größe 100%_\\`,
          title: `Title ${i}`,
          tags: [`t${i}`, 'all'],
          repo_id: app.repo_id,
        })
      ).id,
    )
  await rows(
    app,
    `update runs
      set created_at = '2026-01-01T00:00:00.000500Z'::timestamptz + id * interval '1 day'
      where id = any($1)`,
    [ids],
  )
})
afterAll(() => app[Symbol.asyncDispose]())

const list = (query = '', org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/agent/runs${query}`)
const found = async (query: string) => {
  const { status, body } = await list(query)
  expect({ status, body }).toMatchObject({ status: 200 })
  expect(body.total).toBe(body.items.length)
  return body.items.map((run: { id: number }) => run.id) as number[]
}

describe('200', () => {
  test('newest first, as pages in the format of existing clients, each item the whole run object', async () => {
    const { body } = await list()
    RunPage.strict().parse(body)
    expect(Object.keys(body)).toEqual(['items', 'total', 'page', 'size', 'pages'])
    expect(body.items.map((run: { id: number }) => run.id)).toEqual(ids.toReversed())
    expect(body).toMatchObject({ total: 7, page: 1, size: 100, pages: 1 })
    expect(body.items[3]).toEqual(
      (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${body.items[3].id}`)).body,
    )
  })

  test.each([
    ['?limit=3', { size: 3, page: 1, pages: 3 }, [6, 5, 4]],
    ['?skip=3&limit=3', { size: 3, page: 2, pages: 3 }, [3, 2, 1]],
    ['?skip=6&limit=3', { size: 3, page: 3, pages: 3 }, [0]],
    ['?skip=2&limit=3', { size: 3, page: 1, pages: 3 }, [4, 3, 2]],
    ['?skip=7', { size: 100, page: 1, pages: 1 }, []],
    ['?skip=999999999&limit=1', { size: 1, page: 1_000_000_000, pages: 7 }, []],
    ['?page=2&size=3', { size: 3, page: 2, pages: 3 }, [3, 2, 1]],
    ['?page=3&size=3', { size: 3, page: 3, pages: 3 }, [0]],
    ['?page=999999999&size=100', { size: 100, page: 999_999_999, pages: 1 }, []],
    ['?size=2', { size: 2, page: 1, pages: 4 }, [6, 5]],
    ['?page=9&skip=1&limit=2&size=50', { size: 2, page: 1, pages: 4 }, [5, 4]],
  ])('the page of %s', async (query, numbers, items) => {
    const { body } = await list(query)
    expect(body).toMatchObject({ ...numbers, total: 7 })
    expect(body.items.map((run: { id: number }) => ids.indexOf(run.id))).toEqual(items)
  })

  test('filters narrow one by one and together', async () => {
    const [a = 0, b = 0, c = 0, d = 0] = ids
    await putRun(app, a, 'completed')
    await rows(app, `update runs set source_type = 'SLACK' where id = $1`, [b])
    await rows(app, 'update runs set user_id = $2, repository_id = $3 where id = $1', [
      c,
      colleague,
      second_repo,
    ])
    await rows(app, 'update runs set parent_run_id = $2 where id = $1', [d, a])
    expect(await found('?status=completed')).toEqual([a])
    expect(await found('?source_type=SLACK')).toEqual([b])
    expect(await found(`?user_id=${colleague}`)).toEqual([c])
    expect(await found(`?repo_id=${second_repo}`)).toEqual([c])
    expect(await found(`?parent_run_id=${a}`)).toEqual([d])
    expect(await found('?tag=t3')).toEqual([d])
    expect(await found('?tag=t')).toEqual([])
    expect(await found(`?tag=all&source_type=API&user_id=${app.user_id}&status=queued`)).toEqual(
      ids.slice(3).toReversed(),
    )
    expect(await found('?status=failed')).toEqual([])
    expect(await found('?unknown=key&status=completed')).toEqual([a])
  })

  test('a filter with several values finds the runs of any of them, repeated, in brackets and between commas alike', async () => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = ids
    for (const query of [
      'status=completed&status=failed',
      'status=completed,failed',
      'status[]=completed&status[1]=failed',
      'status=failed,completed,',
    ])
      expect([query, await found(`?${query}`)]).toEqual([query, [a]])
    expect(await found('?status=completed&status=queued')).toHaveLength(7)
    expect(await found(`?repo_id=${second_repo},${app.repo_id}`)).toHaveLength(7)
    expect(await found(`?user_id=${colleague},${other.user_id}`)).toEqual([c])
    expect(await found(`?parent_run_id=${a}&parent_run_id=${b}`)).toEqual([d])
    expect(await found('?source_type=SLACK,LINEAR')).toEqual([b])
    expect(await found('?tag=t1&tag=t4&status=queued,failed')).toEqual([e, b])
    expect(await found(`?status=${'failed,'.repeat(19)}completed`)).toEqual([a])
    // A tag may contain a comma, so a comma separates none.
    const tag = (...tags: string[]) =>
      app.call('PATCH', `/v1/organizations/${app.org_id}/agent/run/${e}`, { tags })
    expect((await tag('one, two', 't4')).status).toBe(200)
    expect(await found('?tag=one,%20two')).toEqual([e])
    expect(await found('?tag=t1,t4')).toEqual([])
    expect(await found('?tag=t4&tag=one,%20two')).toEqual([e])
    // A tag that was removed is no longer found.
    expect((await tag('all', 't4')).status).toBe(200)
    expect(await found('?tag=one,%20two')).toEqual([])
    expect(await found(`?tag=all&tag=t1&status=queued&repo_id=${app.repo_id}`)).toContain(e)
  })

  test('q finds text in title or prompt, case-insensitive, and its characters are literal', async () => {
    expect(await found('?q=TITLE+3')).toEqual([ids[3]])
    expect(await found('?q=prompt%204')).toEqual([ids[4]])
    expect(await found(`?q=${encodeURIComponent('größe 100%_\\')}`)).toHaveLength(7)
    expect(await found('?q=p%25t')).toEqual([])
    expect(await found("?q='%3B+drop+table+runs")).toEqual([])
  })

  test('created_after and created_before exclude the exact time of a run', async () => {
    const at = async (id: number) =>
      (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body.created_at as string
    const third = await at(ids[2] ?? 0)
    expect(await found(`?created_after=${third}`)).toEqual(ids.slice(3).toReversed())
    expect(await found(`?created_before=${third}`)).toEqual(ids.slice(0, 2).toReversed())
    const offset = third.replace('T00:00:00.000Z', 'T05:45:00%2B05:45')
    expect(await found(`?created_after=${offset}&created_before=${await at(ids[5] ?? 0)}`)).toEqual([
      ids[4],
      ids[3],
    ])
    expect(await found('?created_after=9999-12-31T23:59:59Z')).toEqual([])
    expect(await found('?created_before=0001-01-01T00:00:00Z')).toEqual([])
  })

  test('the queries of published clients, runs that the caller created through the API, and each narrowing filter are reflected in the total', async () => {
    const [, by_slack = 0, by_colleague = 0] = ids
    const { body: me } = await app.call('GET', '/v1/users/me')
    const mine = ids.filter(id => id !== by_slack && id !== by_colleague).toReversed()
    expect(await found(`?source_type=API&user_id=${me.id}`)).toEqual(mine)
    const { body } = await list(`?source_type=API&limit=2&user_id=${me.id}`)
    expect(body).toMatchObject({ total: mine.length, size: 2, page: 1, pages: 3 })
    expect(await found(`?source_type=API&user_id=${colleague}`)).toEqual([by_colleague])
  })

  test("archived runs are excluded by default, and another organization's always", async () => {
    const last = ids.at(-1) ?? 0
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/archive`, { agent_run_id: last })
    expect(await found('')).toEqual(ids.slice(0, -1).toReversed())
    expect(await found('?archived=false')).toEqual(ids.slice(0, -1).toReversed())
    expect(await found('?archived=true')).toEqual([last])
    expect(await found(`?user_id=${other.user_id}`)).toEqual([])
    expect(await found(`?parent_run_id=${other.run_id}`)).toEqual([])
    expect(await found(`?repo_id=${other.repo_id}`)).toEqual([])
    expect(await found('?q=secret')).toEqual([])
  })

  test('model and reason of a failure are filters, and an item has what a row of a list shows', async () => {
    const { id } = await createRun(app, { prompt: 'fails', repo_id: second_repo })
    await rows(app, `update runs set model = 'acme/other' where id = $1`, [id])
    await putRun(app, id, 'failed')
    expect(await found('?model=acme/other,acme/none')).toEqual([id])
    expect(await found('?model=acme')).toEqual([])
    expect(await found('?status_reason=agent_error,budget&model=acme/other')).toEqual([id])
    expect(await found('?status_reason=budget')).toEqual([])
    const item = async () => (await list('?model=acme/other')).body.items[0]
    expect(await item()).toMatchObject({ repo_name: 'b', checks: null, error: { code: 'agent_error' } })
    await putPullRequest(app, id)
    expect((await item()).checks).toEqual({ state: 'none', passed: 0, failed: 0, pending: 0 })
    const report = {
      head_sha: 'b',
      source: 'github',
      app: null,
      url: null,
      log_excerpt: null,
      attempt: 1,
      started_at: null,
      completed_at: null,
    } as const
    await saveCheck(app.db, app.org_id, app.repo_id, {
      ...report,
      name: 'test',
      status: 'completed',
      conclusion: 'failure',
    })
    await saveCheck(app.db, app.org_id, app.repo_id, {
      ...report,
      name: 'lint',
      status: 'completed',
      conclusion: 'skipped',
    })
    await saveCheck(app.db, app.org_id, app.repo_id, {
      ...report,
      name: 'build',
      status: 'queued',
      conclusion: null,
    })
    expect((await item()).checks).toEqual({ state: 'failure', passed: 1, failed: 1, pending: 1 })
  })
})

describe('400', () => {
  test.each([
    ['status=COMPLETE', 'status'],
    ['status=', 'status'],
    ['source_type=api', 'source_type'],
    ['user_id=me', 'user_id'],
    ['repo_id=01', 'repo_id'],
    ['parent_run_id=-1', 'parent_run_id'],
    ['archived=1', 'archived'],
    ['archived=true&archived=false', 'archived'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=2026-01-01', 'created_after'],
    ['created_after=2026-02-30T00:00:00Z', 'created_after'],
    ['created_after=0000-01-01T00:00:00Z', 'created_after'],
    ['created_before=9999-12-31T23:59:59-23:59', 'created_before'],
    ['q=%00', 'q'],
    ['tag=a%00', 'tag'],
    [`q=${'x'.repeat(201)}`, 'q'],
    [`tag=${'x'.repeat(51)}`, 'tag'],
    ['q=a&q=b', 'q'],
    ['status=queued&status=COMPLETE', 'status'],
    ['status=queued,COMPLETE', 'status'],
    ['status[]=queued&status[]=COMPLETE', 'status'],
    ['user_id=1,me', 'user_id'],
    [`repo_id=${Array.from({ length: 21 }, (_, n) => n).join(',')}`, 'repo_id'],
    ['created_after=2026-01-01T00:00:00Z&created_after=2026-01-01T00:00:00Z', 'created_after'],
  ])('%s', async (query, field) => void expectProblem(await list(`?${query}`), 400, `query.${field}`))

  test('several errors are reported together', async () => {
    expectProblem(await list('?limit=0&skip=x&status=done'), 400, 'query.limit', 'query.skip', 'query.status')
  })
})

describe('403', () => {
  test('another organization', async () => void expectProblem(await list('', other.org_id), 403))
})
