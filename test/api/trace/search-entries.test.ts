import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, joined, type Statement } from '../../../src/store/database.ts'
import { append } from '../../../src/store/runs/append.ts'
import { searchEntries } from '../../../src/store/runs/log-entries.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'

let app: App
let run_id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  run_id = (await createRun(app, { prompt: 'x' })).id
})
afterAll(() => app[Symbol.asyncDispose]())

const page = { skip: 0, limit: 100, reverse: false }

/**
 * The searched text of an entry: all but the names that every entry has, and the literals that can follow
 * them.
 */
const NAMES =
  /"(thought|tool_name|tool_input|tool_output|observation|duration_ms|artifact_url)":null|"truncated":(true|false)|"(agent_run_id|seq|created_at|turn|message_type|thought|tool_name|tool_input|tool_output|observation|duration_ms|truncated|artifact_url)":/g
const textHolds = (body: string, q: string) =>
  body.toLowerCase().includes(q) && body.replaceAll(NAMES, '').toLowerCase().includes(q)

const texts = [
  'the output was null',
  'tool_output: "tool_output":null',
  'true or false: :12, :t',
  'ÄÖ "quotes" \\ and \n ends',
  'seq',
  'nothing of it',
  'turn:1,',
  'An ERROR in the LIST of 日本 Straße',
]

test('a search finds the entries that contain the text, also as part of a name or of a literal', async () => {
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
  const all = await rows<{ seq: number; body: string }>(
    app,
    'select seq, body from log_entries where run_id = $1 order by seq',
    [run_id],
  )
  const words =
    'e l u : :n ull nul null null, true rue, :true false, output tool _out put: seq :1 :12 12 turn: zzz "q \\ ä quotes name" action error list LIST 日本 STRASSE straße e, l, :null, error: true} "e'
  for (const q of [...words.split(' '), 'was null', ' :', ', :t', 'a\nb'.slice(1, 2)]) {
    const found = await searchEntries(app.db, app.org_id, run_id, { q }, page)
    const sought = JSON.stringify(q).slice(1, -1).toLowerCase()
    const expected = all.filter(({ body }) => textHolds(body, sought)).map(({ seq }) => seq)
    expect({ q, found: found.rows.map(({ seq }) => seq), total: found.total }).toEqual({
      q,
      found: expected,
      total: expected.length,
    })
  }
})

test('a page of a long trace is counted and found in one pass over its entries, divided among processes, without a regular expression', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await addEntries(id, 50_000)
  const [none, none_statements] = await recorded(id, { q: 'output' }, page)
  expect(none).toMatchObject({ rows: [], total: 0 })
  const [hit, hit_statements] = await recorded(id, { q: 'x49999' }, { ...page, reverse: true })
  expect(hit.rows.map(({ seq }) => seq)).toEqual([49_999])
  const once = await buffersOf({
    text: 'select max(length(body)) from log_entries where run_id = $1',
    values: [id],
  })
  for (const [settings, statement, ...more] of [none_statements, hit_statements]) {
    expect(more).toEqual([])
    expect(statement?.text).not.toMatch(/regexp|~/)
    expect(await buffersOf(statement)).toBeLessThan(once * 1.2)
    expect(await workersOf(settings, statement)).toBeGreaterThan(0)
  }
})

test('a search in a short trace starts no process', async () => {
  const { id } = await createRun(app, { prompt: 'x' })
  await addEntries(id, 50)
  const [, [settings, statement]] = await recorded(id, { q: 'x49' }, page)
  expect(await workersOf(settings, statement)).toBe(0)
})

test.each([
  ['a word that begins as a literal ends', 'error', 0, true],
  ['a part of a name', 'output', 1, true],
  ['a literal', 'null', 7, true],
  ['text without a case', '日本', 0, true],
  ['text with a case beyond ASCII', 'straße', 0, false],
])('a search for %s reads the text no more often than it must', async (_, q, passes, ascii) => {
  const [, [, statement]] = await recorded(run_id, { q }, page)
  expect(statement?.text.match(/replace\(/g) ?? []).toHaveLength(passes)
  expect(statement?.text.includes('collate "C"')).toBe(ascii)
})

async function addEntries(id: number, to: number): Promise<void> {
  await rows(
    app,
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
      select $1::bigint, n, $2::bigint, 1, 'ACTION', 'shell',
        '{"tool_output":{"text":"' || $3::text || n || '"}}'
      from generate_series(2, $4::int) n`,
    [id, app.org_id, 'x'.repeat(200), to],
  )
  await rows(app, 'analyze log_entries')
}

/** The results of a search, and the statements of its transaction. */
async function recorded(id: number, filter: { q: string }, wanted: typeof page) {
  const requested: Statement[] = []
  const found = await app.db.transaction(tx => {
    const recording: Db = {
      query: statement => {
        requested.push(statement)
        return tx.query(statement)
      },
    }
    return searchEntries(joined(recording), app.org_id, id, filter, wanted)
  })
  return [found, requested] as const
}

type Plan = {
  Plans?: Plan[]
  'Workers Planned'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
}

async function planOf(db: Db, { text, values }: Statement): Promise<Plan> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
    text: `explain (analyze, buffers, format json) ${text}`,
    values: values ?? [],
  })
  return rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
}

/** Blocks that a statement reads, each counted once. */
async function buffersOf(statement: Statement = { text: '' }): Promise<number> {
  const plan = await planOf(app.db, statement)
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}

/** Parallel workers that PostgreSQL plans for a statement after `settings`. */
function workersOf(settings: Statement = { text: '' }, statement: Statement = { text: '' }): Promise<number> {
  return app.db.transaction(async tx => {
    await tx.query(settings)
    const plans = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(plans)]
    return Math.max(...plans(await planOf(tx, statement)).map(plan => plan['Workers Planned'] ?? 0))
  })
}
