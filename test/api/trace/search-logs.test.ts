import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../src/client/sdk/client.ts'
import { LogSearch } from '../../../src/contract/runs/log-search.ts'
import { searchBits, searchSignature } from '../../../src/core/runs/trace/search-signature.ts'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  id = (await createRun(app, { prompt: 'first' })).id
  await append(app.db, app.org_id, id, null, {
    entries: [
      entry({
        message_type: 'ACTION',
        tool_name: 'shell',
        tool_input: { command: 'npm test' },
        tool_output: { output: 'a\nAn ERROR: Größe 日本語 😀' },
      }),
      entry({ message_type: 'ERROR', observation: { code: 'lost', message: 'error, and an error again' } }),
      entry({
        message_type: 'ACTION',
        tool_name: 'read',
        thought: 'nothing here',
        tool_output: { lines: [{ text: 'deep error' }] },
      }),
    ],
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const search = (query: string, run_id = id) =>
  app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run_id}/logs/search?${query}`)

test('200: the positions of all matches and the text around each are found, regardless of case', async () => {
  const { status, body } = await search('q=Error')
  expect(status).toBe(200)
  LogSearch.strict().parse(body)
  expect(body).toMatchObject({
    agent_run_id: id,
    seqs: [2, 3, 4],
    searched_to: 4,
    complete: true,
    total_logs: 4,
  })
  expect(body.hits.map((hit: { field: string }) => hit.field)).toEqual([
    'tool_output.output',
    'observation.message',
    'tool_output.lines.0.text',
  ])
  const [{ snippet, match_start, match_length, ...hit }] = body.hits
  expect(snippet).toBe('a\nAn ERROR: Größe 日本語 😀')
  expect(snippet.slice(match_start, match_start + match_length)).toBe('ERROR')
  expect(hit).toMatchObject({ seq: 2, turn: 1, message_type: 'ACTION', tool_name: 'shell' })
})

test.each([
  ['q=GRÖSSE', []],
  ['q=gröSSe', []],
  ['q=größe', [2]],
  ['q=日本語', [2]],
  ['q=😀', [2]],
  ['q=Ö', [2]],
  ['q=RÖ', [2]],
  ['q=zz', []],
  ['q=npm%20test', [2]],
  ['q=tool_output', []],
  ['q=null', []],
  ['q=2026', []],
  ['q=e', [1, 2, 3, 4]],
  ['q=error&message_type=ACTION', [2, 4]],
  ['q=error&tool_name=read,write', [4]],
  ['q=error&failed=true', [3]],
  ['q=error&failed=false', [2, 4]],
  ['q=error&after_seq=2', [3, 4]],
  ['q=error&after_seq=999', []],
])('%s finds %j: the values of an entry, and not its names, its time and its run', async (query, seqs) => {
  const { body } = await search(query)
  expect(body).toMatchObject({ complete: true })
  expect(body.seqs.filter((seq: number) => seq > 1 || query === 'q=e')).toEqual(seqs)
})

test('hits are limited and positions are not', async () => {
  const { body } = await search('q=error&limit=1')
  expect([body.seqs, body.hits.length]).toEqual([[2, 3, 4], 1])
})

test('a search that ends early continues where it ended, and finds each match once', async () => {
  const { id: long } = await createRun(app, { prompt: 'second' })
  await rows(
    app,
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
      select $1::bigint, n, $2::bigint, 1, 'ACTION', 'shell',
        '{"agent_run_id":1,"seq":' || n || ',"created_at":"2026-11-20T10:30:02.000Z","turn":1,"message_type":"ACTION","tool_name":"shell","tool_output":{"text":"word x' || n || '"}}'
      from generate_series(2, 25000) n`,
    [long, app.org_id],
  )
  await rows(app, 'update runs set total_logs = 25000 where id = $1', [long])
  const client = createClient({ base_url: app.base_url, token: app.token })
  const found: number[] = []
  const parts: LogSearch[] = []
  for await (const part of client.runs.search(long, { q: 'WORD', limit: 1 })) {
    parts.push(part)
    found.push(...part.seqs)
  }
  expect(found).toEqual(Array.from({ length: 24_999 }, (_, n) => n + 2))
  expect(parts.every(part => part.seqs.length <= 10_000)).toBe(true)
  expect(parts.map(part => part.complete)).toEqual(parts.map((_, n) => n === parts.length - 1))
  const late: number[] = []
  for await (const { seqs } of client.runs.search(long, { q: 'x24999', after_seq: 20_000 }))
    late.push(...seqs)
  expect(late).toEqual([24_999])
})

test('entries that cannot contain the text are excluded by their signature', async () => {
  const stored = await rows<{ length: number }>(
    app,
    'select length(signature) from log_entries where run_id = $1',
    [id],
  )
  expect(stored.every(({ length }) => length >= 8)).toBe(true)
  await rows(app, `update log_entries set signature = '\\x0000000000000000' where run_id = $1 and seq = 3`, [
    id,
  ])
  expect((await search('q=error')).body.seqs).toEqual([2, 4])
})

test('the signature of each letter allows a search for its lower case, as the database folds it', async () => {
  const letters = await rows<{ letter: string; lower: string }>(
    app,
    `select letter, lower(letter) as lower
      from (
        select chr(n) as letter
        from generate_series(1, 70000) n
        where n not between 55296 and 57343
      ) letters
      where lower(letter) <> letter`,
  )
  expect(letters.length).toBeGreaterThan(1_000)
  const excluded = letters.filter(({ letter, lower }) => {
    const signature = searchSignature(`${letter}${letter}x`)
    const q = `${lower}${lower}X`.toLowerCase()
    return [q, q.slice(0, lower.length)].some(part => !allows(signature, part))
  })
  expect(excluded).toEqual([])
})

/** Whether the signature has all bits of the search. */
const allows = (signature: Buffer, q: string) =>
  searchBits(q).every(
    bit => ((signature[(bit & (signature.length * 8 - 1)) >> 3] ?? 0) & (1 << (bit & 7))) !== 0,
  )

test('a search for nothing, in an unknown run or with a wrong filter is refused with the field', async () => {
  expectProblem(await search(''), 400, 'query.q')
  expectProblem(await search('q='), 400, 'query.q')
  expectProblem(await search('q=x&failed=1'), 400, 'query.failed')
  expectProblem(await search('q=x&limit=101'), 400, 'query.limit')
  expectProblem(await search('q=x&message_type=X'), 400, 'query.message_type')
  expectProblem(await search('q=x', 424_242), 404)
})
