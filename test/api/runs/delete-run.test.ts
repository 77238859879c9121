import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DeletedRun } from '../../../src/contract/runs/runs.ts'
import { append } from '../../../src/store/runs/append.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'
import { openFrames } from '../trace/read-frames.ts'
import { putRun, statuses } from './put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (id: number | string, org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run/${id}`
const remove = (id: number | string, org_id = app.org_id) => app.call('DELETE', path(id, org_id))
const newRun = async (status: Parameters<typeof putRun>[2], body = {}) => {
  const { id } = await createRun(app, { prompt: 'x', ...body })
  await putRun(app, id, status)
  return id as number
}
const ended = statuses.filter(status => ['completed', 'failed', 'cancelled'].includes(status))

describe('200', () => {
  test.each(ended)('a run that is %s is deleted for every path', async status => {
    const id = await newRun(status)
    const response = await remove(id)
    expect(response.status).toBe(200)
    expect(DeletedRun.strict().parse(response.body)).toEqual({ id, deleted: true })
    for (const suffix of ['', '/logs', '/diff', '/events'])
      expectProblem(await app.call('GET', `${path(id)}${suffix}`), 404)
    expectProblem(await remove(id), 404)
    const { body } = await app.call('GET', `${path('')}`.replace(/\/$/, 's'))
    expect(body.items.map((run: { id: number }) => run.id)).not.toContain(id)
  })

  test('entries, journal, messages, events and change are deleted with it; its folder is left to the sweep of its machine', async () => {
    const id = await newRun('completed')
    await append(app.db, app.org_id, id, null, { records: [{ kind: 'message', key: null, body: '{}' }] })
    await rows(app, `insert into changes values ($1, $2, 'a', 'b', 1, 1, 1, '[]', 'p', false)`, [
      id,
      app.org_id,
    ])
    await rows(app, `update runs set workspace = '/w/1', workspace_host = 'h' where id = $1`, [id])
    const belonging = ['log_entries', 'journal', 'messages', 'changes', 'events']
    const count = async (table: string) =>
      (await rows<{ n: number }>(app, `select count(*) as n from ${table} where run_id = $1`, [id]))[0]?.n
    for (const table of belonging)
      expect({ table, some: Number(await count(table)) > 0 }).toEqual({ table, some: true })
    await remove(id)
    for (const table of belonging) expect({ table, n: await count(table) }).toEqual({ table, n: 0 })
    expect(
      await rows(
        app,
        `select organization_id, workspace, host
        from leftover_workspaces
        where run_id = $1`,
        [id],
      ),
    ).toEqual([{ organization_id: app.org_id, workspace: '/w/1', host: 'h' }])
  })

  test('children and pull requests remain, without a link to it', async () => {
    const id = await newRun('completed')
    const pr = await putPullRequest(app, id)
    const child = await newRun('running', { parent_run_id: id })
    await remove(id)
    expect((await app.call('GET', path(child))).body).toMatchObject({
      id: child,
      status: 'running',
      parent_run_id: null,
    })
    expect(await rows(app, 'select run_id, state, head_sha from pull_requests where id = $1', [pr])).toEqual([
      { run_id: null, state: 'open', head_sha: 'b' },
    ])
  })

  test('the audit log names the user', async () => {
    const id = await newRun('failed', { title: 'Gone' })
    const { headers } = await remove(id)
    expect(
      await rows(
        app,
        `select user_id, action, target_type, target_id, detail, request_id
          from audit_entries
          where target_id = $1`,
        [`${id}`],
      ),
    ).toEqual([
      {
        user_id: app.user_id,
        action: 'run.deleted',
        target_type: 'run',
        target_id: `${id}`,
        detail: JSON.stringify({ title: 'Gone', user_id: app.user_id, status: 'failed' }),
        request_id: headers.get('x-request-id'),
      },
    ])
  })

  test('viewers of the run are notified and disconnected, viewers of the organization are notified', async () => {
    const id = await newRun('completed')
    await using trace = await openFrames(app, `${path(id)}/events`)
    await using all = await openFrames(app, `/v1/organizations/${app.org_id}/events`)
    await trace.until(seen => seen.some(frame => frame.event === 'run'))
    await remove(id)
    expect((await trace.closed()).at(-1)).toEqual({
      event: 'deleted',
      id: null,
      data: `{"agent_run_id":${id}}`,
    })
    const [event] = await all.until(seen => seen.length > 0)
    expect(JSON.parse(event?.data ?? '')).toEqual({
      seq: Number(event?.id),
      type: 'agent_run.deleted',
      agent_run_id: id,
      run: null,
    })
  })

  test('of ten parallel requests one deletes it, and the others get 404', async () => {
    const id = await newRun('completed')
    const responses = await Promise.all(Array.from({ length: 10 }, () => remove(id)))
    expect(responses.map(response => response.status).sort()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 404),
    ])
    expect(
      await rows(app, `select 1 from events where body::json ->> 'agent_run_id' = $1::text`, [id]),
    ).toHaveLength(1)
  })
})

describe('400', () => {
  test.each(['x', '01', '-1', '1e3'])('the path names no run: %s', async id => {
    expectProblem(await remove(id), 400, 'path.agent_run_id')
  })
})

describe('403 and 404', () => {
  test("another organization's run, by its own path and by ours, and it stays", async () => {
    await rows(
      app,
      `update runs
        set status = 'completed', runnable_at = null, finished_at = now()
        where id = $1`,
      [other.run_id],
    )
    const before = await contents(app)
    expectProblem(await remove(other.run_id, other.org_id), 403)
    const foreign = expectProblem(await remove(other.run_id), 404)
    const unknown = expectProblem(await remove(424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
    expect(await contents(app)).toEqual(before)
  })
})

describe('409', () => {
  test.each(statuses.filter(status => !ended.includes(status)))(
    'a run that is %s is unchanged',
    async status => {
      const id = await newRun(status)
      const before = await contents(app)
      const problem = expectProblem(await remove(id), 409)
      expect(problem.code).toBe('invalid_transition')
      expect(problem.detail).toContain(status)
      expect(await contents(app)).toEqual(before)
    },
  )
})
