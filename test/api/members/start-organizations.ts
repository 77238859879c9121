import { afterAll } from 'vitest'
import { startApp } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'
import { addCaller } from './people.ts'

/**
 * The service without workers and with a second organization, for all tests of a file, and the administrator
 * of the first.
 */
export async function startOrganizations() {
  const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  afterAll(() => app[Symbol.asyncDispose]())
  return { app, other: await addTenant(app), admin: await addCaller(app, app.user_id) }
}
