import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { z } from 'zod'
import { storedJson } from '../core/json/stored-json.ts'
import { listMigrations, migrate } from '../store/migrate.ts'
import { Header } from './backup.ts'
import { type ForeignKey, listForeignKeys } from './catalog.ts'
import { quotedName, withClient } from './client.ts'
import { type Frame, readFrames } from './frames.ts'

/**
 * Numbers that a restore skips: what was numbered after the backup is lost, and its number must not come to
 * mean something else.
 */
const SKIPPED_NUMBERS = 10_000
const UNREADABLE = 'this file is not a backup that this version can read'

const TableHead = z.object({ name: z.string(), columns: z.array(z.string()) })

type RestoreFacts = { taken_at: string; version: string; tables: number; rows: number }

/**
 * Fills an empty database with a backup, all of it or nothing, in the schema that it was taken from; the next
 * start migrates it. Leases of running runs expire, so that a worker continues them; a worker that still runs
 * one of them for the old database is fenced. Rejects with one line.
 */
export async function restore(connection_string: string, path: string): Promise<RestoreFacts> {
  const frames = readFrames(path)
  const header = readHeader(await next(frames))
  await requireKnown(header)
  await withClient(connection_string, 'agentrun-restore', client => requireEmpty(client, header))
  const names = header.migrations.map(({ name }) => name)
  await migrate(connection_string, { only: name => names.includes(name) })
  return withClient(connection_string, 'agentrun-restore', async client => {
    await client.query('begin')
    // Tables refer to each other in circles: references are checked when all rows are there.
    const keys = await listForeignKeys(client)
    for (const { table, name } of keys)
      await client.query(`alter table ${table} drop constraint ${quotedName(name)}`)
    const filled = await fill(client, frames)
    await settle(client, header)
    for (const key of keys) await addKey(client, key)
    await client.query('commit')
    return { taken_at: header.taken_at, version: header.version, ...filled }
  })
}

async function fill(
  client: pg.Client,
  frames: AsyncGenerator<Frame>,
): Promise<{ tables: number; rows: number }> {
  let [tables, rows] = [0, 0]
  let frame = await next(frames)
  while (frame.kind === 'T') {
    const { name, columns } = parseFrame(TableHead, frame)
    let after: Frame | null = null
    const pieces = async function* () {
      for (;;) {
        const piece = await next(frames)
        if (piece.kind !== 'D') {
          after = piece
          return
        }
        yield piece.body
      }
    }
    const target = client.query(
      copyFrom(`copy ${quotedName(name)} (${columns.map(quotedName).join(', ')}) from stdin`),
    )
    await pipeline(pieces, target)
    rows += target.rowCount
    tables++
    if (after === null) throw new Error('the backup ends in the middle of a table')
    frame = after
  }
  if (frame.kind !== 'Z') throw new Error('the backup contains data that this version does not know')
  return { tables, rows }
}

/** Resets what was true of the old machines, and skips numbers that must not be used twice. */
async function settle(client: pg.Client, { sequences }: Header): Promise<void> {
  for (const { name, last_value } of sequences)
    await client.query({
      text: 'select setval($1::regclass, $2::bigint + $3)',
      values: [`public.${quotedName(name)}`, last_value, SKIPPED_NUMBERS],
    })
  await client.query({
    text: 'update organizations set event_seq = event_seq + $1',
    values: [SKIPPED_NUMBERS],
  })
  await client.query({
    text: `update runs
      set epoch = epoch + $1, workspace = null, workspace_host = null, sandbox = null,
        lease_until = case when lease_until is not null then now() end`,
    values: [SKIPPED_NUMBERS],
  })
}

const addKey = (client: pg.Client, { table, name, definition }: ForeignKey) =>
  client.query(`alter table ${table} add constraint ${quotedName(name)} ${definition}`)

/** Accepts an empty database, or the schema alone, which an unfinished restore leaves. */
async function requireEmpty(client: pg.Client, { migrations }: Header): Promise<void> {
  const { rows } = await client.query(
    `select 1
      from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      limit 1`,
  )
  if (rows.length === 0) return
  const { rows: known } = await client.query(
    `select 1
      from pg_tables
      where schemaname = 'public' and tablename = 'organizations'`,
  )
  const { rows: used } =
    known.length === 0 ? { rows: [0] } : await client.query('select 1 from organizations limit 1')
  const applied =
    known.length === 0 ? [] : (await client.query<{ name: string }>('select name from migrations')).rows
  if (used.length > 0 || applied.some(({ name }) => !migrations.some(file => file.name === name)))
    throw new Error('the database is not empty: restore into a new one')
}

async function requireKnown({ migrations, version }: Header): Promise<void> {
  const own = await listMigrations()
  const unknown = migrations.find(
    ({ name, digest }) => !own.some(file => file.name === name && file.digest === digest),
  )
  if (unknown)
    throw new Error(
      `the backup was taken by version ${version}, with migration ${unknown.name}: restore it with that version`,
    )
}

function readHeader(frame: Frame): Header {
  if (frame.kind !== 'H') throw new Error(UNREADABLE)
  return parseFrame(Header, frame)
}

function parseFrame<T>(schema: z.ZodType<T>, { body }: Frame): T {
  try {
    return schema.parse(storedJson<unknown>(body.toString()))
  } catch (cause) {
    throw new Error(UNREADABLE, { cause })
  }
}

async function next(frames: AsyncGenerator<Frame>): Promise<Frame> {
  const { value, done } = await frames.next()
  if (done) throw new Error('the backup ends too early')
  return value
}
