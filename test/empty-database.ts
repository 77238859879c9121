import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** An empty database, dropped at the end. `query` returns rows. */
export async function emptyDatabase() {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ connectionString: inject('admin_url') })
  await admin.connect()
  await admin.query(`create database ${name} template template0`)
  const url = new URL(inject('admin_url'))
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  return {
    url: url.href,
    query: async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await client.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}
