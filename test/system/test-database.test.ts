import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../database.ts'

async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

test('two test databases are isolated from each other and leave nothing in the server', async () => {
  const names: string[] = []
  {
    await using first = await createTestDatabase()
    await using second = await createTestDatabase()
    await using in_first = await connect(first.url)
    await using in_second = await connect(second.url)
    await in_first.query('create table only_here (id int)')
    const { rows } = await in_second.query(
      "select to_regclass('only_here') as found, current_database() as name",
    )
    expect(rows[0].found).toBeNull()
    names.push(rows[0].name, new URL(first.url).pathname.slice(1))
  }
  await using other = await createTestDatabase()
  await using client = await connect(other.url)
  const { rows } = await client.query('select datname from pg_database where datname = any($1)', [names])
  expect(rows).toEqual([])
})
