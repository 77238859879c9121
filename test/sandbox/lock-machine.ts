import pg from 'pg'
import { inject } from 'vitest'

/**
 * Waits until no other test of this run has the lock of that name: for tests that read a counter of the whole
 * machine.
 */
export async function lockMachine(name: string): Promise<AsyncDisposable> {
  const client = new pg.Client(inject('admin_url'))
  await client.connect()
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
  return { [Symbol.asyncDispose]: () => client.end() }
}
