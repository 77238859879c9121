import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from './put-run.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  await rows(app, 'delete from usage_days')
  await set({ runs_per_month: null, budget_usd_per_month: null })
})

const set = (bounds: object) => app.call('PATCH', `/v1/organizations/${app.org_id}`, bounds)
const path = () => `/v1/organizations/${app.org_id}/agent/run`
const create = () => app.call('POST', path(), { prompt: 'x' })
const resume = (agent_run_id: number) => app.call('POST', `${path()}/resume`, { agent_run_id, prompt: 'y' })
const usage = {
  model: 'm',
  steps: 1,
  input_tokens: 1,
  output_tokens: 1,
  cached_tokens: 0,
  estimated_calls: 0,
}
/** As a worker records it after the response of a model. */
const spend = (id: number, cost_usd: string | null) =>
  append(app.db, app.org_id, id, null, { usage: { ...usage, cost_usd } })
/** Moves the usage so far into the last month. */
const nextMonth = () => rows(app, `update usage_days set day = day - interval '1 month'`)

describe('402', () => {
  test('the run after the last of the month, with a message that clients of the public API know, and nothing is stored', async () => {
    await set({ runs_per_month: 2 })
    await createRun(app, { prompt: '1' })
    const last = await createRun(app, { prompt: '2' })
    const before = await contents(app)
    const problem = expectProblem(await create(), 402)
    expect(problem).toMatchObject({ code: 'quota_exceeded', status_code: 402 })
    expect(problem.message).toMatch(
      /^Alloted agent runs for the current billing plan have been reached\. .*The 2 runs/,
    )
    await putRun(app, last.id, 'completed')
    const after = await contents(app)
    expectProblem(await resume(last.id), 402)
    expect(await contents(app)).toEqual(after)
    expect(after.log_entries).toBe(before.log_entries)
  })

  test('of twenty parallel creates as many are accepted as the quota allows', async () => {
    await set({ runs_per_month: 7 })
    const responses = await Promise.all(Array.from({ length: 20 }, create))
    expect(responses.map(response => response.status).sort()).toEqual([
      ...Array(7).fill(200),
      ...Array(13).fill(402),
    ])
    for (const response of responses.filter(item => item.status === 402)) expectProblem(response, 402)
  })

  test('a quota of zero accepts none', async () => {
    await set({ runs_per_month: 0 })
    expectProblem(await create(), 402)
    const generate = `/v1/organizations/${app.org_id}/setup-commands/generate`
    expectProblem(await app.call('POST', generate, { repo_id: app.repo_id }), 402)
    await set({ runs_per_month: null, budget_usd_per_month: 0 })
    expectProblem(await create(), 402)
  })

  test('the cost of the month has reached the budget: no run is created, and no inactive one continues', async () => {
    await set({ budget_usd_per_month: '1.50' })
    const ids = Object.fromEntries(
      await Promise.all(
        (['completed', 'failed', 'paused', 'waiting', 'running'] as const).map(async status => {
          const { id } = await createRun(app, { prompt: 'x' })
          await putRun(app, id, status)
          return [status, id] as const
        }),
      ),
    )
    await spend(ids.running ?? 0, '1.49999999')
    await createRun(app, { prompt: 'the last' })
    await spend(ids.running ?? 0, '0.00000001')
    const problem = expectProblem(await create(), 402)
    expect(problem.detail).toContain("cost 1.5 US dollars of the organization's budget of 1.5")
    for (const status of ['completed', 'failed', 'paused', 'waiting'])
      expectProblem(await resume(ids[status] ?? 0), 402)
    expect((await resume(ids.running ?? 0)).status).toBe(200)
  })

  test('objects come first: a missing run or repository is 404 as usual', async () => {
    await set({ runs_per_month: 0 })
    expectProblem(await resume(424_242), 404)
    expectProblem(await app.call('POST', path(), { prompt: 'x', repo_id: 424_242 }), 404)
    expectProblem(await app.call('POST', path(), { prompt: '' }), 400)
  })
})

describe('200', () => {
  test('a new month begins at nothing', async () => {
    await set({ runs_per_month: 1, budget_usd_per_month: '1' })
    const { id } = await createRun(app, { prompt: 'x' })
    await spend(id, '5')
    expectProblem(await create(), 402)
    await nextMonth()
    expect((await create()).status).toBe(200)
  })

  test('with the number of runs used up, a paused run continues and a waiting one can be answered: no turn begins', async () => {
    const ids = await Promise.all(
      (['paused', 'waiting', 'running', 'queued'] as const).map(async status => {
        const { id } = await createRun(app, { prompt: 'x' })
        await putRun(app, id, status)
        return id
      }),
    )
    await set({ runs_per_month: 1 })
    for (const id of ids) expect((await resume(id)).status).toBe(200)
  })

  test('the usage of another organization does not count, and an unknown cost counts as none', async () => {
    const other = await addTenant(app)
    await append(app.db, other.org_id, other.run_id, null, { usage: { ...usage, cost_usd: '1000' } })
    await set({ budget_usd_per_month: '1' })
    const { id } = await createRun(app, { prompt: 'x' })
    await spend(id, null)
    expect((await create()).status).toBe(200)
  })

  test('a limit that is raised or removed admits runs again', async () => {
    await set({ runs_per_month: 1 })
    await createRun(app, { prompt: 'x' })
    expectProblem(await create(), 402)
    await set({ runs_per_month: 2 })
    await createRun(app, { prompt: 'x' })
    expectProblem(await create(), 402)
    await set({ runs_per_month: null })
    expect((await create()).status).toBe(200)
  })
})
