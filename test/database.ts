import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** A migrated, empty database of its own for one test file; dropped, with its connections, at the end. */
export async function createTestDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  // Copying files takes half the time of logging each page, which only a crash would need.
  await asAdmin(`create database ${name} template agentrun_template strategy file_copy`)
  const url = new URL(inject('admin_url'))
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('admin_url') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
