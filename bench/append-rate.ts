import type { Database } from '../src/store/database.ts'
import { append } from '../src/store/runs/append.ts'
import { entry } from '../src/trace/entry.ts'
import { addOrganization, fillQueue } from '../test/runs/queue/fill-queue.ts'
import { type Rate, rateLine, rateOf } from './rate.ts'
import { startDatabase, walPosition } from './start-database.ts'

const WRITERS = [1, 8, 32]
const ROUNDS = 3
const SECONDS = 3
const output = 'drwxr-xr-x 2 user user 4096 Nov 21 10:00 part-of-a-listing\n'.repeat(12)

/**
 * Entries of about 1 KB, each with its record of the journal, appended under the fence by owners of many
 * runs: in a second, and in bytes.
 */
export async function appendRate(): Promise<string> {
  await using database = await startDatabase()
  const db = database.open(40)
  await db.query({
    text: 'create table bench_baseline (id bigint generated always as identity primary key, text text)',
  })
  const owner = await addOrganization(db, 'Writers')
  await fillQueue(db, owner, Math.max(...WRITERS))
  const { rows: runs } = await db.query<{ id: number }>({
    text: `update runs
      set status = 'running', phase = 'agent', runnable_at = null, epoch = 1, owner = 'a worker',
        lease_until = now() + interval '1 hour'
      returning id`,
  })
  const step = (run: number, n: number) =>
    append(db, owner.organization_id, runs[run]?.id ?? 0, 1, {
      entries: [
        entry({
          message_type: 'ACTION',
          tool_name: 'shell',
          tool_input: { command: `ls ${n}` },
          tool_output: { status: 'ok', output },
        }),
      ],
      records: [
        { kind: 'tool_finished', key: `call_${n}`, body: JSON.stringify({ call_id: `call_${n}`, output }) },
      ],
    })
  const plain = (db: Database) =>
    db.query({
      name: 'bench_insert',
      text: 'insert into bench_baseline (text) values ($1)',
      values: [output],
    })

  const lines = [
    'append-rate: baseline is an insert of 0.7 KB into a table without anything else, fsynced, by as many connections',
  ]
  const before = await sizes(db)
  let entries = 0
  let written = 0
  let n = 0
  for (const writers of WRITERS) {
    const results: { append: Rate[]; baseline: Rate[] } = { append: [], baseline: [] }
    for (let round = 0; round < ROUNDS; round++) {
      results.baseline.push(await rateOf(writers, SECONDS, () => plain(db), database.pid))
      const wal = await walPosition(db)
      results.append.push(
        await rateOf(writers, SECONDS, async run => refuse(await step(run, n++)), database.pid),
      )
      entries += results.append.at(-1)?.times.length ?? 0
      written += (await walPosition(db)) - wal
    }
    lines.push(rateLine(`${writers} writers, each on its run`, results.append, results.baseline, 'entries'))
  }
  const after = await sizes(db)
  const each = (name: keyof typeof after) => Math.round((after[name] - before[name]) / entries)
  lines.push(
    `  bytes an entry: ${each('log_entries')} in log_entries, ${each('journal')} in journal, indexes included; ${Math.round(written / entries)} of write-ahead log`,
    '',
  )
  return lines.join('\n')
}

/** A fence that refuses would make a bench of nothing. */
function refuse(appended: unknown): void {
  if (appended === undefined) throw new Error('the append was refused')
}

async function sizes(db: Database): Promise<{ log_entries: number; journal: number }> {
  const { rows } = await db.query<{ log_entries: number; journal: number }>({
    text: `select pg_total_relation_size('log_entries') as log_entries,
        pg_total_relation_size('journal') as journal`,
  })
  return rows[0] ?? { log_entries: 0, journal: 0 }
}
