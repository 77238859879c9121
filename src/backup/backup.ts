import pg from 'pg'
import { listSequences, listTables } from './catalog.ts'
import { copyOut } from './copy.ts'
import { writeFrames } from './frames.ts'

/** What a backup says of itself. Sequences stand in it with the last number that they gave. */
export type Header = {
  format: 'agentrun-backup-1'
  version: string
  taken_at: string
  migrations: { name: string; digest: string }[]
  sequences: { name: string; last_value: string }[]
}

export type BackupFacts = { tables: number; rows: number; bytes: number; sha256: string }

/**
 * Writes everything that the database holds as of one moment, while it is in use: one snapshot for all tables, no lock that anybody waits for.
 * Not the counters of rate limits, not which processes are there. Rejects, leaving no file, when `path` is there already.
 */
export async function backUp(connection_string: string, path: string, version: string): Promise<BackupFacts> {
  await using out = await writeFrames(path)
  const client = new pg.Client({ connectionString: connection_string, application_name: 'agentrun-backup' })
  // A connection that breaks rejects its statements; without a listener it would also end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read, read only')
    const migrations = (await client.query<Header['migrations'][number]>('select name, digest from migrations order by name')).rows
    const tables = await listTables(client)
    const { rows: times } = await client.query<{ now: Date }>('select now()')
    const taken_at = times[0]?.now.toISOString() ?? ''
    // Later than the snapshot, so never lower than what stands in a row.
    const sequences = await listSequences(client)
    const header: Header = { format: 'agentrun-backup-1', version, taken_at, migrations, sequences }
    await out.write('H', Buffer.from(JSON.stringify(header)))
    let rows = 0
    for (const { name, columns } of tables) {
      await out.write('T', Buffer.from(JSON.stringify({ name, columns })))
      rows += await copyOut(client, `copy (select ${columns.map(id).join(', ')} from ${id(name)}) to stdout`, chunk =>
        out.write('D', chunk),
      )
    }
    await client.query('commit')
    return { tables: tables.length, rows, ...(await out.finish()) }
  } finally {
    await client.end()
  }
}

const id = (name: string) => pg.escapeIdentifier(name)
