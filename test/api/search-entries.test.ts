import { afterAll, beforeAll, expect, test } from 'vitest'
import { append } from '../../src/store/append.ts'
import type { Db, Statement } from '../../src/store/database.ts'
import { findEntries } from '../../src/store/log-entries.ts'
import { entry } from '../../src/trace/entry.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'

let app: App
let run_id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  run_id = (await createRun(app, { prompt: 'x' })).id
})
afterAll(() => app[Symbol.asyncDispose]())

const page = { skip: 0, limit: 100, reverse: false }

/** What counts as text of an entry: all but the names that every entry holds, and what stands for nothing behind them. */
const NAMES =
  /"(agent_run_id|seq|created_at|turn|message_type|thought|tool_name|tool_input|tool_output|observation|duration_ms|truncated|artifact_url)":(null|true|false)?/g
const textHolds = (body: string, q: string) => body.toLowerCase().includes(q) && body.replaceAll(NAMES, '').toLowerCase().includes(q)

const texts = [
  'the output was null',
  'tool_output: "tool_output":null',
  'true or false: :12, :t',
  'ÄÖ "quotes" \\ and \n ends',
  'seq',
  'nothing of it',
  'turn:1,',
]

test('what is found is what holds the text, a part of a name or of a literal too', async () => {
  for (const text of texts)
    await append(app.db, app.org_id, run_id, null, {
      entries: [
        entry({
          message_type: 'ACTION',
          tool_name: 'shell',
          thought: text,
          tool_output: { output: text, truncated: false, n: 12, x: null },
        }),
      ],
    })
  const all = await rows<{ seq: number; body: string }>(app, 'select seq, body from log_entries where run_id = $1 order by seq', [run_id])
  const words =
    'e l u : :n ull nul null null, true rue, :true false, output tool _out put: seq :1 :12 12 turn: zzz "q \\ ä quotes name" action'
  for (const q of [...words.split(' '), 'was null', ' :', ', :t', 'a\nb'.slice(1, 2)]) {
    const found = await findEntries(app.db, app.org_id, run_id, { q }, page)
    const sought = JSON.stringify(q).slice(1, -1).toLowerCase()
    const expected = all.filter(({ body }) => textHolds(body, sought)).map(({ seq }) => seq)
    expect({ q, found: found.rows.map(({ seq }) => seq), total: found.total }).toEqual({ q, found: expected, total: expected.length })
  }
})

test('a page of a long trace is counted and found in one reading of its entries, without a regular expression', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  const output = 'x'.repeat(200)
  await rows(
    app,
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
     select $1::bigint, n, $2::bigint, 1, 'ACTION', 'shell', '{"tool_output":{"text":"' || $3::text || n || '"}}' from generate_series(2, 50000) n`,
    [id, app.org_id, output],
  )
  await rows(app, 'analyze log_entries')
  const asked: Statement[] = []
  const recording = {
    query: (statement: Statement) => {
      asked.push(statement)
      return app.db.query(statement)
    },
  } as unknown as Db
  const found = await findEntries(recording, app.org_id, id, { q: 'output' }, page)
  expect(found).toMatchObject({ rows: [], total: 0 })
  const hit = await findEntries(recording, app.org_id, id, { q: 'x49999' }, { ...page, reverse: true })
  expect(hit.rows.map(({ seq }) => seq)).toEqual([49_999])
  expect(asked).toHaveLength(2)
  const once = await buffersOf(app.db, { text: 'select max(length(body)) from log_entries where run_id = $1', values: [id] })
  for (const statement of asked) {
    expect(statement.text).not.toMatch(/regexp|~/)
    expect(await buffersOf(app.db, statement)).toBeLessThan(once * 1.2)
  }
})

/** Blocks that a statement reads. */
async function buffersOf(db: Db, { text, values }: Statement): Promise<number> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>({
    text: `explain (analyze, buffers, format json) ${text}`,
    values: values ?? [],
  })
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}
