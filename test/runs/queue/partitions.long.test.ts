import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { backUp } from '../../../src/backup/backup.ts'
import { restore } from '../../../src/backup/restore.ts'
import { Database } from '../../../src/store/database.ts'
import { append } from '../../../src/store/runs/append.ts'
import { listEntries } from '../../../src/store/runs/log-entries.ts'
import { entry } from '../../../src/trace/entry.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { emptyDatabase } from '../../empty-database.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { allLogs, createRun } from '../await-run.ts'

type Table = { name: 'log_entries' | 'journal'; key_column: 'seq' | 'n' }

/**
 * Follows a file of docs/ step by step, as an operator would, with these numbers instead of its own, for this
 * table.
 */
async function follow(app: App, file: string, { name, key_column }: Table, numbers: Record<string, number>) {
  let text = readFileSync(new URL(`../../../docs/operations/${file}`, import.meta.url), 'utf8')
  text = text.replaceAll('log_entries', name).replaceAll('seq', key_column)
  for (const [example, number] of Object.entries(numbers)) text = text.replaceAll(example, String(number))
  const operator = new pg.Client({ connectionString: app.database_url })
  await operator.connect()
  for (const step of text.split(/^-- Step /m).slice(1)) await operator.query(`-- Step ${step}`)
  await operator.end()
}

/**
 * Runs that grow by an entry and a record at a time until they are stopped, while others are created and
 * read.
 */
function keepBusy(app: App, ids: number[]) {
  let done = false
  let n = 0
  const grow = async (id: number) => {
    while (!done)
      expect(
        await append(app.db, app.org_id, id, null, {
          entries: [entry({ message_type: 'ACTION', tool_name: 'shell' })],
          records: [{ kind: 'tool_finished', key: `${n++}`, body: '{}' }],
        }),
      ).toBeDefined()
  }
  const createAndRead = async (id: number) => {
    while (!done) {
      await createRun(app, { prompt: 'x' })
      expect(
        (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/logs?limit=10`)).status,
      ).toBe(200)
    }
  }
  const work = Promise.all([...ids.map(grow), createAndRead(ids[0] ?? 0)])
  return {
    /** Resolves when the load has made progress after this moment. */
    async goesOn() {
      const from = n
      while (n < from + 20) await new Promise(resolve => setImmediate(resolve))
    },
    async stop() {
      done = true
      await work
    },
  }
}

const dense = `select r.id
  from runs r
  where r.total_logs <> (select count(*) from log_entries e where e.run_id = r.id)
    or r.total_logs <> (select max(seq) from log_entries e where e.run_id = r.id)
    or r.journal_count <> (select count(*) from journal j where j.run_id = r.id)`
const parts = (app: App, { name }: Table) =>
  rows<{ part: string }>(
    app,
    `select tableoid::regclass::text as part
      from ${name}
      group by 1
      order by min(run_id)`,
  )

test.each<Table>([
  { name: 'log_entries', key_column: 'seq' },
  { name: 'journal', key_column: 'n' },
])(
  '$name is split while runs continue, as docs/operations/sizing.md describes, and no row is lost, moved or slow',
  async table => {
    await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
    const ids: number[] = []
    for (let n = 0; n < 4; n++) ids.push((await createRun(app, { prompt: 'x' })).id)
    const busy = keepBusy(app, ids)
    await busy.goesOn()
    const [first_end, second_end] = [10_000, 20_000]
    await follow(app, 'partition-log-entries.sql', table, { 1000000: first_end })
    await busy.goesOn()
    // Years later: runs have numbers beyond the first part.
    await rows(app, `select setval('runs_id_seq', $1)`, [first_end])
    await busy.goesOn()
    await busy.stop()
    const later = (await createRun(app, { prompt: 'x' })).id
    expect(later).toBeGreaterThan(first_end)
    const busy_again = keepBusy(app, [later, ...ids])
    await busy_again.goesOn()
    await follow(app, 'partition-again.sql', table, { 1000000: first_end, 2000000: second_end })
    await rows(app, `select setval('runs_id_seq', $1)`, [second_end])
    await busy_again.goesOn()
    await busy_again.stop()
    const last = (await createRun(app, { prompt: 'x' })).id
    await append(app.db, app.org_id, last, null, { records: [{ kind: 'message', key: null, body: '{}' }] })

    expect(await rows(app, dense)).toEqual([])
    expect((await parts(app, table)).map(({ part }) => part)).toEqual([
      `${table.name}_until_${first_end}`,
      `${table.name}_until_${second_end}`,
      `${table.name}_last`,
    ])
    for (const id of [ids[0] ?? 0, later, last]) {
      const logs = await allLogs(app, id)
      expect(logs.map(log => log.seq)).toEqual(logs.map((_log, n) => n + 1))
    }
    // A page reads only one partition.
    const plan = await rows<{ 'QUERY PLAN': string }>(
      app,
      `explain (analyze, costs off) select * from ${table.name} where run_id = ${later} and ${table.key_column} between 1 and 100 order by ${table.key_column}`,
    )
    const scanned = plan.map(row => row['QUERY PLAN']).filter(line => line.includes(` on ${table.name}`))
    expect(scanned).toHaveLength(1)
    expect(scanned[0]).toContain(`${table.name}_until_${second_end}`)
    expect(await listEntries(app.db, app.org_id, later, 1, 100)).not.toEqual([])

    using folder = temporaryFolder()
    const file = join(folder.path, 'backup')
    await backUp(app.database_url, file, 'test')
    await using target = await emptyDatabase()
    await restore(target.url, file)
    await using restored = new Database(target.url, { max: 1, on_error: () => {} })
    const count = { text: `select count(*) as n from ${table.name}` }
    expect((await restored.query(count)).rows).toEqual((await app.db.query(count)).rows)

    await putRun(app, later, 'completed')
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${later}`)).status).toBe(200)
    expect(await rows(app, `select 1 from ${table.name} where run_id = $1`, [later])).toEqual([])
    const foreign_run = append(app.db, app.org_id, 999_999, null, {
      entries: [entry({ message_type: 'ERROR' })],
    })
    expect(await foreign_run).toBeUndefined()
    await expect(
      rows(
        app,
        `insert into ${table.name}
          select (jsonb_populate_record(t, '{"run_id": 15000}')).*
          from ${table.name} t
          limit 1`,
      ),
    ).rejects.toThrow(/foreign key/)

    // An empty partition is dropped immediately.
    await rows(app, `delete from runs where id < $1`, [first_end])
    await rows(
      app,
      `alter table ${table.name} detach partition ${table.name}_until_${first_end} concurrently`,
    )
    await rows(app, `drop table ${table.name}_until_${first_end}`)
    expect((await allLogs(app, last)).length).toBeGreaterThan(0)
  },
)
