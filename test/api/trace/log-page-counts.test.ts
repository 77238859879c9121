import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'

/**
 * The statements of a request for a page of logs without rate limits: a commit that adds one states why it is
 * worth it.
 */
const PAGE = ['find_run_access', 'list_entries']
const KEPT_PAGE = ['find_run_access']

let app: App
const query = vi.spyOn(pg.Client.prototype, 'query')
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await app[Symbol.asyncDispose]()
})

test('a page is read from the database twice, then kept, and the token, the organization and the run for each request', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await append(app.db, app.org_id, id, null, {
    entries: [entry({ message_type: 'ACTION', tool_name: 'shell' })],
  })
  const request = async () => {
    const from = query.mock.calls.length
    const { status } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/logs`)
    const names = query.mock.calls
      .slice(from)
      .map(([statement]) => (Object(statement) as { name?: string }).name)
    return { status, names: names.filter(name => [...PAGE, 'find_access', 'get_run'].includes(name ?? '')) }
  }
  expect(await request()).toEqual({ status: 200, names: PAGE })
  expect(await request()).toEqual({ status: 200, names: PAGE })
  expect(await request()).toEqual({ status: 200, names: KEPT_PAGE })
})

test('the texts of a page are sent in binary format, character by character as they were written', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const thought = 'a \u0000 \u0001 " \\ é ☃ 😀 \ufffd'
  await append(app.db, app.org_id, id, null, {
    entries: [entry({ message_type: 'ACTION', tool_name: 'shell', thought })],
  })
  const from = query.mock.calls.length
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/logs`)
  expect(body.logs.at(-1)).toMatchObject({ message_type: 'ACTION', thought })
  const statements = query.mock.calls
    .slice(from)
    .map(([statement]) => Object(statement) as { name?: string; binary?: boolean })
  expect(statements.find(({ name }) => name === 'list_entries')).toMatchObject({ binary: true })
})
