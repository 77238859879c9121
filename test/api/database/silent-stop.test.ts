import { expect, test } from 'vitest'
import { createTestDatabase } from '../../database.ts'
import { startApp } from '../../start-app.ts'
import { DatabaseProxy } from './database-proxy.ts'

test('a service whose database stops responding and closes nothing can still be stopped', async () => {
  await using database = await createTestDatabase()
  await using proxy = new DatabaseProxy(database.url)
  await proxy.up()
  const app = await startApp({ DATABASE_URL: proxy.url, AGENTRUN_WORKER_CONCURRENCY: '1' })
  expect((await app.call('GET', '/v1/organizations')).status).toBe(200)
  proxy.silence()
  await app[Symbol.asyncDispose]()
}, 60_000)
