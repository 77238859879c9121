import { searchSignature } from '../src/core/runs/trace/search-signature.ts'
import { searchedText } from '../src/core/runs/trace/stored-entry.ts'
import { searchRunLogs } from '../src/service/runs/logs/search-logs.ts'
import type { Database } from '../src/store/database.ts'
import { searchEntries } from '../src/store/runs/log-entries.ts'
import type { RunHead } from '../src/store/runs/run-heads.ts'
import { median } from './rate.ts'
import { startDatabase } from './start-database.ts'

const ENTRIES = 100_000
const ROUNDS = 3
const TARGET_MS = 500
/**
 * The text of an entry, about 2 KB: one that PostgreSQL compresses to a half, and one that cannot be
 * compressed.
 */
const traces = {
  'output of commands': `(select string_agg((array['error','warning','test','build','src/node.ts','Module','expected','received'])[1 + hashtext(n || '-' || g) % 4 + 3] || ' ' || (hashtext(n::text || g) & 1023), ' ') from generate_series(1, 160) g)`,
  'random hexadecimal': `(select string_agg(md5(n::text || g), '') from generate_series(1, 55) g)`,
}
const searches = {
  'no hit': 'zebra crossing',
  'a word beside similar ones': 'warned',
  'one hit, at the end': `ls ${ENTRIES}`,
  'a hit in each entry': '/bin/ls',
  'one letter': 'e',
  'a part of a name of JSON': 'output',
  'a literal of JSON': 'null',
  'two letters': 'qz',
  'not ASCII': 'ÄRGER',
}

/**
 * Searches in a run of 100,000 entries of 2 KB: the first page and the number of hits of the logs, and the
 * search of logs until its first hit and until its end, beside a scan for the text as it is written.
 */
export async function search(): Promise<string> {
  await using database = await startDatabase()
  const db = database.open(4)
  await db.query({ text: 'alter table log_entries drop constraint log_entries_organization_id_run_id_fkey' })
  const lines = [
    `search: the first page of hits in ${ENTRIES} entries of 2 KB; the baseline reads all entries for a text without folding its case`,
  ]
  for (const [at, [name, text]] of Object.entries(traces).entries()) {
    const run_id = at + 1
    await fillTrace(db, run_id, text)
    const times = new Map<string, number[]>()
    const note = (key: string, ms: number) => times.set(key, [...(times.get(key) ?? []), ms])
    for (let round = 0; round < ROUNDS; round++) {
      note('baseline', await took(() => plainScan(db, run_id)))
      for (const [key, q] of Object.entries(searches)) {
        note(
          key,
          await took(() => searchEntries(db, 1, run_id, { q }, { skip: 0, limit: 100, reverse: false })),
        )
        note(`${key}, first hit`, await took(() => searchUntil(db, run_id, q, 'first hit')))
        note(`${key}, all hits`, await took(() => searchUntil(db, run_id, q, 'all hits')))
      }
    }
    const baseline = median(times.get('baseline') ?? [])
    lines.push(`  ${name}: baseline ${baseline.toFixed(0)} ms`)
    for (const key of Object.keys(searches).flatMap(key => [key, `${key}, first hit`, `${key}, all hits`])) {
      const ms = median(times.get(key) ?? [])
      lines.push(
        `    ${key.padEnd(42)} ${ms.toFixed(0).padStart(5)} ms, ${(ms / baseline).toFixed(1)} × the baseline, target ${ms <= TARGET_MS ? 'met' : 'MISSED'}`,
      )
    }
  }
  return [...lines, ''].join('\n')
}

/** Sends the requests of a client: each continues where the previous one ended. */
async function searchUntil(
  db: Database,
  run_id: number,
  q: string,
  until: 'first hit' | 'all hits',
): Promise<void> {
  const head = { id: run_id, organization_id: 1, total_logs: ENTRIES } as RunHead
  const ctx = { db, organization_id: 1, run_head: head }
  for (let after_seq = 0; ; ) {
    const part = await searchRunLogs(ctx, run_id, { q, after_seq, limit: 20 })
    if (part.complete || (until === 'first hit' && part.seqs.length > 0)) return
    after_seq = part.searched_to
  }
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const plainScan = (db: Database, run_id: number) =>
  db.query({
    text: `select count(*)
      from log_entries
      where organization_id = 1 and run_id = $1 and strpos(body, 'zebra crossing') > 0`,
    values: [run_id],
  })

async function fillTrace(db: Database, run_id: number, text: string): Promise<void> {
  await db.query({
    text: `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
      select $1::bigint, n, 1, 1, 'ACTION', 'shell',
        '{"agent_run_id":' || $1::bigint || ',"seq":' || n || ',"created_at":"2026-11-21T10:00:00.000Z","turn":1,"message_type":"ACTION",' || '"thought":null,"tool_name":"shell","tool_input":{"command":"/bin/ls ' || n || '"},"tool_output":{"status":"ok","exit_code":0,"output":"' || ${text} || '","truncated":false},"observation":null,"duration_ms":1,"truncated":false,"artifact_url":null}'
      from generate_series(1, $2::int) n`,
    values: [run_id, ENTRIES],
  })
  for (let from = 1; from <= ENTRIES; from += 2_000) {
    const { rows } = await db.query<{ seq: number; body: string }>({
      text: `select seq, body
        from log_entries
        where run_id = $1 and seq >= $2 and seq < $2 + 2000`,
      values: [run_id, from],
    })
    await db.query({
      text: `update log_entries e
        set signature = s.signature
        from unnest($2::int[], $3::bytea[]) s (seq, signature)
        where run_id = $1 and e.seq = s.seq`,
      values: [
        run_id,
        rows.map(({ seq }) => seq),
        rows.map(({ body }) => searchSignature(searchedText(body.slice(body.indexOf('"message_type"'))))),
      ],
    })
  }
  await db.query({ text: 'vacuum full log_entries' })
  await db.query({ text: 'vacuum analyze log_entries' })
}
