import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, rows, startApp } from '../start-app.ts'
import { expectProblem } from './expect-problem.ts'
import { addTenant, type Tenant } from './second-organization.ts'

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

const generate = (body: unknown, org_id = app.org_id) => app.call('POST', `/v1/organizations/${org_id}/setup-commands/generate`, body)
const forget = () => rows(app, 'delete from rate_windows')

describe('generateSetupCommands', () => {
  test('400: names the field', async () => {
    await forget()
    expectProblem(await generate({}), 400, 'body.repo_id')
    expectProblem(await generate({ repo_id: 'x' }), 400, 'body.repo_id')
  })
  test("404: another organization's repository, as one that never was", async () => {
    await forget()
    const [foreign, never] = [await generate({ repo_id: other.repo_id }), await generate({ repo_id: 999_999 })]
    expect([foreign.status, foreign.body.detail]).toEqual([never.status, never.body.detail])
    expectProblem(foreign, 404)
  })
  test('429: the sixth of a minute, counted for the organization and not for who is no member', async () => {
    await forget()
    for (let n = 0; n < 7; n++)
      await app.call('POST', `/v1/organizations/${app.org_id}/setup-commands/generate`, {}, { authorization: `Bearer ${other.token}` })
    const answers = []
    for (let n = 0; n < 6; n++) answers.push((await generate({ repo_id: app.repo_id })).status)
    expect(answers).toEqual([501, 501, 501, 501, 501, 429])
  })
  test('501: a good request', async () => {
    await forget()
    expect(expectProblem(await generate({ repo_id: app.repo_id, prompt: null, trigger_source: 'cli' }), 501).code).toBe('not_available')
  })
})
