import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_SETUP_COMMANDS: '5/60',
  })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const generate = (body: unknown, org_id = app.org_id, headers = {}) =>
  app.call('POST', `/v1/organizations/${org_id}/setup-commands/generate`, body, headers)
const forget = () => rows(app, 'delete from rate_windows')

describe('generateSetupCommands', () => {
  test('400: names the field', async () => {
    await forget()
    expectProblem(await generate({}), 400, 'body.repo_id')
    expectProblem(await generate({ repo_id: 'x' }), 400, 'body.repo_id')
  })
  test("404: another organization's repository, like a nonexistent one", async () => {
    await forget()
    const [foreign, never] = [
      await generate({ repo_id: other.repo_id }),
      await generate({ repo_id: 999_999 }),
    ]
    expect([foreign.status, foreign.body.detail]).toEqual([never.status, never.body.detail])
    expectProblem(foreign, 404)
  })
  test('429: the sixth of a minute, counted for the organization and not for non-members', async () => {
    await forget()
    for (let n = 0; n < 7; n++)
      await app.call(
        'POST',
        `/v1/organizations/${app.org_id}/setup-commands/generate`,
        {},
        { authorization: `Bearer ${other.token}` },
      )
    const responses = []
    for (let n = 0; n < 6; n++) responses.push((await generate({ repo_id: app.repo_id })).status)
    expect(responses).toEqual([200, 200, 200, 200, 200, 429])
  })
  test('409: a repository that takes no runs', async () => {
    await forget()
    const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}`
    expect((await app.call('PATCH', path, { archived: true })).status).toBe(200)
    expectProblem(await generate({ repo_id: app.repo_id }), 409)
    await app.call('PATCH', path, { archived: false })
  })
  test('200: a run of its own kind, on the repository and without a pull request', async () => {
    await forget()
    const { status, body } = await generate({ repo_id: app.repo_id, prompt: null, trigger_source: 'cli' })
    expect([status, Object.keys(body)]).toEqual([200, ['agent_run_id', 'status', 'url']])
    expect(body).toMatchObject({ status: 'queued', url: `${app.base_url}/agent/trace/${body.agent_run_id}` })
    const run = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${body.agent_run_id}`)).body
    expect(run).toMatchObject({
      source_type: 'SETUP_COMMANDS',
      repo_id: app.repo_id,
      metadata: { trigger_source: 'cli' },
      result: '',
    })
    expect(await rows(app, 'select auto_create_pr from runs where id = $1', [run.id])).toEqual([
      { auto_create_pr: false },
    ])
    const run_id = (await generate({ repo_id: app.repo_id, prompt: 'Mind the tests.' })).body.agent_run_id
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run_id}`)).body).toMatchObject(
      { prompt: 'Mind the tests.' },
    )
  })
  test('200 and 422: repeated with one key it is one run, and another request is rejected', async () => {
    await forget()
    const key = { 'idempotency-key': 'setup-of-the-sample' }
    const both = [
      await generate({ repo_id: app.repo_id }, app.org_id, key),
      await generate({ repo_id: app.repo_id }, app.org_id, key),
    ]
    expect(both[1]?.body).toEqual(both[0]?.body)
    expectProblem(await generate({ repo_id: app.repo_id, prompt: 'Another.' }, app.org_id, key), 422)
  })
  test('200: also if the default model of the organization is unavailable, because rules need none', async () => {
    await forget()
    await rows(app, "update organizations set default_model = 'gone/model'")
    expect((await generate({ repo_id: app.repo_id })).status).toBe(200)
    await rows(app, 'update organizations set default_model = null')
  })
})
