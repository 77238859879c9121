import { statSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dumpSchema } from '../../scripts/schema-dump.ts'
import { restore } from '../../src/backup/restore.ts'
import { emptyDatabase } from '../empty-database.ts'
import { rows } from '../start-app.ts'
import { type BackedUpApp, connected, contentOf, startBackedUpApp } from './backed-up-app.ts'

let source: BackedUpApp
beforeAll(async () => {
  source = await startBackedUpApp()
})
afterAll(() => source[Symbol.asyncDispose]())

test('a restored database has every row and the whole schema of the one that was backed up', async () => {
  await using target = await emptyDatabase()
  const reported = await restore(target.url, source.file)
  const [before, after] = [await contentOf(source.app.database_url), await contentOf(target.url)]
  expect(after).toEqual(before)
  expect(reported.rows).toBe(
    Object.entries(before).reduce(
      (sum, [name, lines]) => sum + (name === 'migrations' ? 0 : lines.length),
      0,
    ),
  )
  expect(Object.values(before).filter(lines => lines.length > 0).length).toBeGreaterThan(15)
  const [schema, restored] = [
    await connected(source.app.database_url, dumpSchema),
    await connected(target.url, dumpSchema),
  ]
  expect(restored).toBe(schema)
  expect(statSync(source.file).mode & 0o777).toBe(0o600)
})

test('numbers that were assigned after the backup are never reused, and earlier owners of a run are fenced', async () => {
  await using target = await emptyDatabase()
  await restore(target.url, source.file)
  const [old] = await rows<{ id: number; event_seq: number }>(
    source.app,
    `select max(r.id) as id, max(o.event_seq) as event_seq
      from runs r, organizations o`,
  )
  const [run] = await target.query(
    `select epoch, lease_until <= now() as over, workspace, sandbox
      from runs
      where epoch > 10000
      order by id desc
      limit 1`,
  )
  expect(run).toEqual({ epoch: 10_003, over: true, workspace: null, sandbox: null })
  const [next] = await target.query(
    `select nextval(pg_get_serial_sequence('runs', 'id'))::int as id,
        (select max(event_seq)::int from organizations) as event_seq`,
  )
  expect(next?.id).toBeGreaterThan((old?.id ?? 0) + 9_000)
  expect(next?.event_seq).toBe((old?.event_seq ?? 0) + 10_000)
})
