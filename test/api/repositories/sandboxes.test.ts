// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepRuns } from '../../../src/worker/sweep/recover-lost-runs.ts'
import { type CheckedApp, startCheckedApp } from '../../runs/checks/checked-app.ts'
import { calls, shell } from '../../runs/coding-app.ts'
import { rows } from '../../start-app.ts'
import { noTelemetry } from '../../telemetry/no-telemetry.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: CheckedApp
let other: Tenant
/** Its setup, two commands of its agent and a check. */
let run: any
let logs: any[]
beforeAll(async () => {
  app = await startCheckedApp()
  other = await addTenant(app)
  await app.call('PUT', app.at(`/repos/${app.repo_id}/setup-commands`), { commands: ['echo prepared'] })
  await app.checkBy({ test: 'test -s count.js' })
  app.script = [calls(shell('echo "export const two = 2" >>count.js')), { text: 'Added two.' }]
  ;({ run, logs } = await app.seen(await app.start()))
})
afterAll(() => app[Symbol.asyncDispose]())

const get = (path: string) => app.call('GET', app.at(path))
const list = async (query = '') => (await get(`/sandboxes?${query}`)).body

describe('listSandboxes', () => {
  test('200: every sandbox that executed something, newest first, with its usage, its lifetime, and its position in the trace', async () => {
    const { items, ...numbers } = await list(`agent_run_id=${run.id}`)
    expect(run.status, JSON.stringify(logs.at(-1))).toBe('completed')
    expect(numbers).toEqual({ total: 3, page: 1, size: 100, pages: 1 })
    // The setup runs before the agent, and its result is also available to the check.
    expect(items.map(({ kind }: any) => kind)).toEqual(['check', 'agent', 'setup'])
    expect(items.map(({ id }: any) => id)).toEqual(
      items.map(({ id }: any) => id).toSorted((a: number, b: number) => b - a),
    )
    for (const one of items) {
      expect(one).toMatchObject({
        agent_run_id: run.id,
        repo_id: app.repo_id,
        state: 'ended',
        end_reason: 'stopped',
      })
      expect(one.limits.memory_bytes).toBeGreaterThan(1024 ** 2)
      expect(one.logs_url).toBe(`${run.web_url}#e${one.first_seq}`)
      for (const [from, to] of [
        ['created_at', 'started_at'],
        ['started_at', 'ended_at'],
      ] as const)
        expect(one[to] >= one[from]).toBe(true)
    }
    expect(items[1].peaks.memory_bytes).toBeGreaterThan(100_000)
    expect(items[1].peaks.memory_kills).toBe(0)
  })

  test('200: filters combine, and results are paged', async () => {
    expect((await list(`kind=check&agent_run_id=${run.id}&repo_id=${app.repo_id}`)).total).toBe(1)
    expect((await list('state=running')).total).toBe(0)
    const of_kind = async (kind: string) =>
      (await list(`kind=${kind}&state=ended,lost&repo_id=${app.repo_id},9`)).total as number
    expect(await of_kind('check,agent')).toBe((await of_kind('check')) + (await of_kind('agent')))
    expect(await of_kind('check&kind=agent')).toBeGreaterThan(await of_kind('check'))
    expect((await list('state=ended&limit=1')).pages).toBeGreaterThanOrEqual(3)
    expect(
      (await list(`created_after=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`)).total,
    ).toBe(0)
    expect((await list('repo_id=424242')).total).toBe(0)
    expect((await list(`agent_run_id=${other.run_id}`)).total).toBe(0)
  })

  test('400: names the field', async () => {
    expectProblem(await get('/sandboxes?kind=big'), 400, 'query.kind')
    expectProblem(await get('/sandboxes?limit=101'), 400, 'query.limit')
  })
})

describe('getSandbox and getSandboxLogs', () => {
  test('200: one, and the entries of the trace about it alone, also after it is removed', async () => {
    const { items } = await list(`agent_run_id=${run.id}`)
    const toolsOf = async ({ id }: any) => {
      expect((await get(`/sandbox/${id}`)).body).toEqual(items.find((item: any) => item.id === id))
      const { body } = await get(`/sandbox/${id}/logs`)
      for (const entry of body.items) expect(entry).toEqual(logs[entry.seq - 1])
      return body.items.map((entry: any) => entry.tool_name ?? entry.message_type)
    }
    const [check, agent, setup] = items
    expect(await toolsOf(check)).toEqual(['check'])
    expect(await toolsOf(setup)).toContain('setup_command')
    const tools = await toolsOf(agent)
    expect(tools).toContain('shell')
    expect(tools).not.toContain('setup_command')
    expect(tools).not.toContain('check')
    const { body } = await get(`/sandbox/${agent.id}/logs?limit=1&after_seq=${agent.first_seq}`)
    expect(body).toMatchObject({ total: tools.length - 1, size: 1, items: [{ seq: agent.first_seq + 1 }] })
  })

  test("404: a nonexistent one, and another organization's", async () => {
    for (const path of ['', '/logs']) {
      const [never, foreign] = [
        await get(`/sandbox/424242${path}`),
        await get(`/sandbox/${other.sandbox_id}${path}`),
      ]
      expectProblem(never, 404)
      expect([foreign.status, foreign.body.detail]).toEqual([never.status, never.body.detail])
    }
  })
})

test('a sandbox whose owner is gone is lost, and has no further usage', async () => {
  const [row] = await rows<{ id: number }>(
    app,
    `insert into sandboxes (organization_id, run_id, kind, driver, host, epoch, state, limits, first_seq)
      values ($1, $2, 'agent', 'd', 'h', 0, 'running', $3, 1)
      returning id`,
    [
      app.org_id,
      run.id,
      JSON.stringify({ max_memory_bytes: 1, cpus: 1, max_processes: 1, max_disk_bytes: 1, max_files: 1 }),
    ],
  )
  const deps = {
    db: app.db,
    max_losses: 3,
    queue_seconds: 60,
    log: () => {},
    telemetry: noTelemetry(),
    driver: null,
    folder_id: null,
    owner: null,
  }
  await sweepRuns(deps)
  expect((await get(`/sandbox/${row?.id}`)).body).toMatchObject({
    state: 'lost',
    end_reason: 'owner_lost',
    last_seq: run.total_logs,
  })
  await rows(app, 'delete from sandboxes where id = $1', [row?.id])
})
