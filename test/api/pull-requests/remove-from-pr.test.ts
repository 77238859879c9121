import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'
import { putPullRequest } from './put-pull-request.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const remove = (body: unknown) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/remove-from-pr`, body)
const newRun = async (status: Parameters<typeof putRun>[2]) => {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, status)
  return id as number
}

describe('200', () => {
  test('the run is removed from its pull request, which is unchanged', async () => {
    const id = await newRun('completed')
    const pr = await putPullRequest(app, id)
    const { status, body } = await remove({ agent_run_id: id })
    expect(status).toBe(200)
    expect(AgentRun.strict().parse(body)).toMatchObject({
      id,
      status: 'completed',
      banned: false,
      github_pull_requests: [],
      branch: null,
    })
    expect(
      await rows(app, 'select run_id, state, head_branch, head_sha from pull_requests where id = $1', [pr]),
    ).toEqual([{ run_id: null, state: 'open', head_branch: `agent/run-${id}-x`, head_sha: 'b' }])
  })

  test('an active run, and every other on the branch of the pull request, is stopped; the request can name any of them', async () => {
    const [owner, fixing, apart] = [await newRun('waiting'), await newRun('running'), await newRun('running')]
    await putPullRequest(app, owner)
    await rows(
      app,
      `update runs
        set (branch, pushed_sha) = (select branch, pushed_sha from runs where id = $2)
        where id = $1`,
      [fixing, owner],
    )
    expect((await remove({ agent_run_id: fixing })).body).toMatchObject({
      id: fixing,
      status: 'cancelling',
      branch: null,
    })
    expect(
      await rows(
        app,
        `select id, status, branch, abandoned_branches
          from runs
          where id = any($1)
          order by id`,
        [[owner, fixing, apart]],
      ),
    ).toEqual([
      { id: owner, status: 'cancelled', branch: null, abandoned_branches: 1 },
      { id: fixing, status: 'cancelling', branch: null, abandoned_branches: 1 },
      { id: apart, status: 'running', branch: null, abandoned_branches: 0 },
    ])
  })

  test('a run without a pull request is stopped, and keeps its branch', async () => {
    const id = await newRun('queued')
    await rows(app, `update runs set branch = 'agent/run-x', pushed_sha = 'b' where id = $1`, [id])
    expect((await remove({ agent_run_id: id })).body).toMatchObject({
      status: 'cancelled',
      branch: 'agent/run-x',
    })
  })

  test('twice is the same as once', async () => {
    const id = await newRun('completed')
    await putPullRequest(app, id)
    await remove({ agent_run_id: id, before_card_order_id: null, after_card_order_id: 'x' })
    const before = await contents(app)
    expect(await remove({ agent_run_id: id })).toMatchObject({
      status: 200,
      body: { id, github_pull_requests: [] },
    })
    expect(await contents(app)).toEqual(before)
  })

  test('it can be resumed', async () => {
    const id = await newRun('completed')
    await putPullRequest(app, id)
    await remove({ agent_run_id: id })
    const response = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: id,
      prompt: 'go on',
    })
    expect(response).toMatchObject({ status: 200, body: { status: 'queued', turn: 2 } })
  })
})

describe('400', () => {
  test.each([{}, { agent_run_id: null }, { agent_run_id: '1' }, { agent_run_id: 1.5 }])(
    '%j',
    async body => void expectProblem(await remove(body), 400, 'body.agent_run_id'),
  )
})

describe('404', () => {
  test("another organization's run in the body gets the message of a nonexistent one, and it continues", async () => {
    const before = await contents(app)
    const foreign = expectProblem(await remove({ agent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await remove({ agent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
    expect(await contents(app)).toEqual(before)
  })
})
