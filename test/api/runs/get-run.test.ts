import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun, statuses } from './put-run.ts'

let app: App
let other: Tenant
let id: number
const path = (run_id: number | string, org_id = app.org_id) =>
  `/v1/organizations/${org_id}/agent/run/${run_id}`
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  id = (await createRun(app, { prompt: 'Look around', metadata: { ticket: 7 } })).id
})
afterAll(() => app[Symbol.asyncDispose]())

/** specification.md#run-object, in its order, followed by later additions. */
const keys = [
  ...[
    'id',
    'organization_id',
    'status',
    'created_at',
    'web_url',
    'result',
    'summary',
    'source_type',
    'github_pull_requests',
    'metadata',
  ],
  ...[
    'status_reason',
    'terminal',
    'phase',
    'waiting_on',
    'queue_position',
    'last_progress_at',
    'deadline_at',
  ],
  ...[
    'stop_requested_at',
    'stop_requested_by',
    'pause_requested_at',
    'pause_requested_by',
    'started_at',
    'updated_at',
  ],
  ...[
    'finished_at',
    'error',
    'agent_type',
    'model',
    'reasoning_effort',
    'review',
    'tools_off',
    'prompt',
    'title',
    'tags',
    'archived',
    'repo_id',
    'base_ref',
    'base_sha',
    'branch',
  ],
  ...[
    'user_id',
    'turn',
    'parent_run_id',
    'forked_at_seq',
    'total_logs',
    'usage',
    'budget',
    'repo_name',
    'checks',
    'banned',
  ],
]
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('200', () => {
  test('the run object has exactly the documented keys', async () => {
    const { status, body } = await app.call('GET', path(id))
    expect(status).toBe(200)
    expect(Object.keys(AgentRun.strict().parse(body))).toEqual(keys)
    expect(Object.keys(body)).toEqual(keys)
    expect(Object.keys(body.usage)).toEqual([
      'input_tokens',
      'output_tokens',
      'cached_tokens',
      'cached_share',
      'cost_usd',
      'active_seconds',
      'estimated_calls',
    ])
    expect(Object.keys(body.budget)).toEqual([
      'max_cost_usd',
      'max_steps',
      'max_active_seconds',
      'max_wall_seconds',
    ])
  })

  test('types are those that existing clients check strictly', async () => {
    const { body } = await app.call('GET', path(id))
    expect(body).toMatchObject({
      id,
      organization_id: app.org_id,
      status: 'queued',
      result: '',
      source_type: 'API',
      github_pull_requests: [],
    })
    expect(body).toMatchObject({
      web_url: `${app.base_url}/agent/trace/${id}`,
      metadata: { ticket: 7 },
      user_id: app.user_id,
      turn: 1,
    })
    expect(typeof body.summary).toBe('string')
    for (const key of ['created_at', 'updated_at', 'last_progress_at', 'deadline_at'])
      expect(body[key]).toMatch(time)
    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(120_000)
  })

  test('a pull request is listed in the format of existing clients', async () => {
    const [pr] = await rows<{ id: number }>(
      app,
      `insert into pull_requests (
          organization_id, repository_id, run_id, number, state, title, body, url, head_branch, base_branch,
          base_sha, head_sha, files_changed, additions, deletions
        )
        values ($1, $2, $3, 1, 'open', 'T', 'B', 'http://x/1', 'agent/run-1', 'main', 'a', 'b', 1, 2, 3)
        returning id`,
      [app.org_id, app.repo_id, id],
    )
    const { body } = await app.call('GET', path(id))
    expect(AgentRun.parse(body).github_pull_requests).toEqual([
      {
        id: pr?.id,
        title: 'T',
        url: 'http://x/1',
        created_at: expect.stringMatching(time),
        updated_at: expect.stringMatching(time),
        head_branch_name: 'agent/run-1',
        number: 1,
        state: 'open',
        base_branch_name: 'main',
        head_sha: 'b',
        files_changed: 1,
        additions: 2,
        deletions: 3,
      },
    ])
  })

  test.each(statuses)('a run that is %s has that status in the schema of the document', async status => {
    const run = await createRun(app, { prompt: 'x' })
    await putRun(app, run.id, status)
    const { body } = await app.call('GET', path(run.id))
    expect(AgentRun.parse(body)).toMatchObject({
      status,
      terminal: ['completed', 'failed', 'cancelled'].includes(status),
    })
    expect(body.finished_at === null).toBe(!body.terminal)
    expect(body.error).toEqual(status === 'failed' ? { code: 'agent_error', message: 'it broke' } : null)
    expect(body.queue_position === null).toBe(status !== 'queued')
  })

  test('money is a decimal string, and null when a price is unknown', async () => {
    const run = await createRun(app, { prompt: 'x', budget: { max_cost_usd: 0.1 } })
    await rows(app, `update runs set cost_usd = 1.50000 where id = $1`, [run.id])
    expect((await app.call('GET', path(run.id))).body).toMatchObject({
      usage: { cost_usd: '1.5' },
      budget: { max_cost_usd: '0.1' },
    })
    await rows(app, 'update runs set cost_known = false where id = $1', [run.id])
    expect((await app.call('GET', path(run.id))).body.usage.cost_usd).toBeNull()
  })
})

describe('400', () => {
  test.each([
    'abc',
    '0x1',
    '1.0',
    '1e0',
    '01',
    '-1',
    '%201',
    '1%20',
    '%00',
    '%EF%BC%91',
    '9999999999999999',
    '99999999999999999999',
  ])(
    'an id spelled %s is refused by name',
    async spelled => void expectProblem(await app.call('GET', path(spelled)), 400, 'path.agent_run_id'),
  )
})

describe('403', () => {
  test('another organization and a nonexistent one are refused with the same message', async () => {
    const foreign = expectProblem(await app.call('GET', path(other.run_id, other.org_id)), 403)
    const unknown = expectProblem(await app.call('GET', path(other.run_id, 424_242)), 403)
    expect({ ...unknown, request_id: '', instance: '' }).toEqual({ ...foreign, request_id: '', instance: '' })
  })
})

describe('404', () => {
  test("another organization's run and a nonexistent one get the same message", async () => {
    const foreign = expectProblem(await app.call('GET', path(other.run_id)), 404)
    const unknown = expectProblem(await app.call('GET', path(424_242)), 404)
    expect({ ...unknown, request_id: '', instance: '' }).toEqual({ ...foreign, request_id: '', instance: '' })
    expect(foreign.detail).toBe('Agent run not found.')
  })

  test('an id beyond the maximum is not found, without an internal error', async () => {
    for (const id of [0, 2_147_483_648, 999_999_999_999_999])
      expectProblem(await app.call('GET', path(id)), 404)
  })
})
