import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { z } from 'zod'
import { listSequences, listTables, type Table } from './catalog.ts'
import { quotedName, withClient } from './client.ts'
import { type FrameWriter, writeFrames } from './frames.ts'

/** The first frame of a backup. `last_value` is the last number that a sequence returned. */
export const Header = z.object({
  format: z.literal('agentrun-backup-1'),
  version: z.string(),
  taken_at: z.string(),
  migrations: z.array(z.object({ name: z.string(), digest: z.string() })),
  sequences: z.array(z.object({ name: z.string(), last_value: z.string() })),
})
export type Header = z.output<typeof Header>

type BackupFacts = { tables: number; rows: number; bytes: number; sha256: string }

/**
 * Writes the whole database as of one moment, while it is in use: one snapshot for all tables, and no lock
 * that blocks other statements. The counters of rate limits and the list of processes are left out. Rejects,
 * leaving no file, when `path` exists already.
 */
export async function backUp(connection_string: string, path: string, version: string): Promise<BackupFacts> {
  await using out = await writeFrames(path)
  return await withClient(connection_string, 'agentrun-backup', async client => {
    await client.query('begin isolation level repeatable read, read only')
    const tables = await listTables(client)
    await out.write('H', Buffer.from(JSON.stringify(await readHeader(client, version))))
    let rows = 0
    for (const table of tables) rows += await writeTable(client, table, out)
    await client.query('commit')
    return { tables: tables.length, rows, ...(await out.finish()) }
  })
}

async function readHeader(client: pg.Client, version: string): Promise<Header> {
  const migrations = (
    await client.query<Header['migrations'][number]>('select name, digest from migrations order by name')
  ).rows
  const { rows: times } = await client.query<{ now: Date }>('select now()')
  // Read after the snapshot was taken, so never lower than a number in a row.
  const sequences = await listSequences(client)
  return {
    format: 'agentrun-backup-1',
    version,
    taken_at: times[0]?.now.toISOString() ?? '',
    migrations,
    sequences,
  }
}

/** Returns the number of rows. The server waits while `out` does. */
async function writeTable(client: pg.Client, { name, columns }: Table, out: FrameWriter): Promise<number> {
  await out.write('T', Buffer.from(JSON.stringify({ name, columns })))
  const source = client.query(
    copyTo(`copy (select ${columns.map(quotedName).join(', ')} from ${quotedName(name)}) to stdout`),
  )
  for await (const chunk of source) await out.write('D', chunk)
  // The stream may end before the message with the count arrived; the next result comes after that.
  await client.query('select')
  return source.rowCount
}
