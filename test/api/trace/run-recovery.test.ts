import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunRecovery } from '../../../src/contract/runs/recovery.ts'
import { append } from '../../../src/store/runs/append.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const recovery = (id: number | string, query = '', org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/agent/run/${id}/recovery${query}`)
const record = (
  kind: 'model_started' | 'model_answered' | 'tool_started' | 'tool_finished' | 'recovered',
  key: string | null,
  body: unknown,
) => ({
  kind,
  key,
  body: JSON.stringify(body),
})

/** A run whose journal was written by two owners, the first of which died in a command. */
async function recoveredRun(): Promise<number> {
  const { id } = await createRun(app, { prompt: 'x' })
  const write = async (...records: ReturnType<typeof record>[]) => {
    const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
    expect(await append(app.db, app.org_id, id, run?.epoch ?? 0, { records })).toBeDefined()
  }
  await putRun(app, id, 'running')
  await write(record('model_started', null, {}))
  await write(
    record('model_answered', null, { tool_calls: [{ id: 'a', name: 'shell' }] }),
    record('tool_started', 'a', {}),
  )
  await putRun(app, id, 'running')
  const interrupted = [{ call_id: 'a', tool_name: 'shell' }]
  await write(
    record('recovered', null, {
      cause: 'lease_lost',
      since: '2026-01-01T00:00:00.000Z',
      model_call_reissued: false,
      interrupted,
    }),
  )
  await write(
    record('tool_finished', 'a', {
      message: { content: [{ output: { value: { status: 'interrupted' } } }] },
    }),
  )
  await write(record('model_started', null, {}))
  return id
}

describe('200', () => {
  test('every step with its state, which worker continued and when', async () => {
    const response = RunRecovery.strict().parse((await recovery(await recoveredRun())).body)
    expect(response.recoveries).toMatchObject([
      {
        turn: 1,
        cause: 'lease_lost',
        lost_at: '2026-01-01T00:00:00.000Z',
        interrupted: [{ call_id: 'a', tool_name: 'shell' }],
      },
    ])
    expect(response.counts).toEqual({
      committed: 1,
      reissued: 0,
      interrupted: 1,
      not_run: 0,
      failed: 0,
      open: 1,
    })
    expect(response.steps.items.map(({ n, state }) => [n, state])).toEqual([
      [1, 'committed'],
      [2, 'interrupted'],
      [3, 'open'],
    ])
  })

  test('a page of the steps, with counts of all', async () => {
    const response = RunRecovery.parse((await recovery(await recoveredRun(), '?skip=1&limit=1')).body)
    expect(response.steps).toMatchObject({ items: [{ n: 2 }], total: 3, page: 2, size: 1, pages: 3 })
    expect(response.counts.committed).toBe(1)
  })

  test('an unclaimed run has no step', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    expect((await recovery(id)).body).toMatchObject({
      agent_run_id: id,
      recoveries: [],
      steps: { items: [], total: 0, pages: 0 },
    })
  })
})

describe('400', () => {
  test('an invalid page', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    expectProblem(await recovery(id, '?skip=-1'), 400, 'query.skip')
    expectProblem(await recovery(id, '?limit=0'), 400, 'query.limit')
  })
})

describe('403', () => {
  test('another organization', async () => expectProblem(await recovery(other.run_id, '', other.org_id), 403))
})

describe('404', () => {
  test('a run of another organization is like a nonexistent one', async () => {
    const [foreign, never] = [await recovery(other.run_id), await recovery(424_242)]
    expectProblem(foreign, 404)
    expect(foreign.body.detail).toBe(never.body.detail)
  })
})
