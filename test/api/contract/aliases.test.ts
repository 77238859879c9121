import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { filledPath, tokenCalls } from './every-endpoint.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const rows = (Object.entries(endpoints) as [string, Endpoint][]).flatMap(([name, { path, aliases = [] }]) =>
  aliases.map(alias => ({ name, path, alias })),
)

describe('200', () => {
  test.each(rows)('$alias responds like $path', async ({ name, alias }) => {
    const { id: run_id } = await createRun(app, { prompt: 'x' })
    const ids = {
      org_id: app.org_id,
      run_id,
      repo_id: app.repo_id,
      user_id: app.user_id,
      pr_id: 1,
      artifact_id: 1,
    }
    const call = tokenCalls(ids).find(item => item.name === name)
    if (!call) throw new Error(`${name} wants no token`)
    const query = call.path.split('?')[1]
    const filled = filledPath(alias, { ...ids, agent_run_id: run_id })
    const first = await app.call(call.method, call.path, call.body)
    const second = await app.call(call.method, query === undefined ? filled : `${filled}?${query}`, call.body)
    expect(second.status).toBe(200)
    expect(Object.keys(second.body).sort()).toEqual(Object.keys(first.body).sort())
    expect(second.body.id).toBe(first.body.id)
  })
})
