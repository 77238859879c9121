import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ViewerPresence } from '../../../src/worker/claim/viewer-presence.ts'
import { createRun } from '../../runs/await-run.ts'
import { type CodingApp, calls, finish, shell, startCodingApp } from '../../runs/coding-app.ts'
import { rows } from '../../start-app.ts'
import { openFrames } from './read-frames.ts'

const STEPS = 8

let app: CodingApp
const query = vi.spyOn(pg.Client.prototype, 'query')
const seen = vi.spyOn(ViewerPresence.prototype, 'seen')
const viewer = Promise.withResolvers<void>()

beforeAll(async () => {
  app = await startCodingApp(
    async ({ body }) => {
      const step = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
      // The worker has noticed the viewer by then.
      await viewer.promise
      return step < STEPS ? calls(shell(`echo é${step}`)) : finish('Done.')
    },
    { AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake' },
  )
})
afterAll(async () => {
  vi.restoreAllMocks()
  await app[Symbol.asyncDispose]()
})

test('entries of a worker in the same process reach viewers as they are stored, and without being read', async () => {
  seen.mockImplementationOnce(function (this: ViewerPresence) {
    this.seen()
    viewer.resolve()
  })
  const { id } = await createRun(app, { prompt: 'eight steps' })
  await using reader = await openFrames(app, `/v1/organizations/${app.org_id}/agent/run/${id}/events`)
  const ended = ({ event, data }: { event: string; data: string }) =>
    event === 'run' && JSON.parse(data).terminal
  const frames = (await reader.until(all => all.some(ended))).filter(({ event }) => event === 'log')
  const stored = await rows<{ seq: number; body: string; tool_name: string | null }>(
    app,
    'select seq, body, tool_name from log_entries where run_id = $1 order by seq',
    [id],
  )
  expect(frames.map(({ data }) => data)).toEqual(stored.map(({ body }) => body))

  const reads = query.mock.calls.flatMap(([statement], n) => {
    const { name, values } = Object(statement) as { name?: string; values?: unknown[] }
    return name === 'list_entries_after' && values?.[1] === id
      ? [query.mock.results[n]?.value as unknown as Promise<pg.QueryResult>]
      : []
  })
  const read = new Set(
    (await Promise.all(reads)).flatMap(result => result.rows.map(row => row.seq as number)),
  )
  const commands = stored.filter(({ tool_name }) => tool_name === 'shell').map(({ seq }) => seq)
  expect(commands).toHaveLength(STEPS)
  expect(commands.filter(seq => !read.has(seq))).not.toEqual([])
})
