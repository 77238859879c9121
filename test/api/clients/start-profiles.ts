import { afterAll } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { putRun } from '../runs/put-run.ts'
import { type Caller, withProfile } from './with-profile.ts'

/** The status of each state of a run for a token of the public API. */
export const codegenStatusOf = {
  queued: 'ACTIVE',
  starting: 'ACTIVE',
  running: 'ACTIVE',
  waiting: 'PAUSED',
  paused: 'PAUSED',
  cancelling: 'ACTIVE',
  completed: 'COMPLETE',
  failed: 'ERROR',
  cancelled: 'CANCELLED',
} as const

/** `codegen` calls with the wire profile of the public API, `org` is the path of the organization. */
export type Profiles = {
  app: App
  codegen: Caller
  org: string
  /** Creates a run in this state, as a worker would leave it. */
  runIn(state: keyof typeof codegenStatusOf, reason?: string): Promise<number>
}

/** A service without workers, until the tests of the calling file end. */
export async function startProfiles(): Promise<Profiles> {
  const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  afterAll(() => app[Symbol.asyncDispose]())
  return {
    app,
    codegen: await withProfile(app, 'codegen'),
    org: `/v1/organizations/${app.org_id}`,
    async runIn(state, reason) {
      const { id } = await createRun(app, { prompt: 'x', metadata: { status: 'queued' } })
      await putRun(app, id, state)
      if (reason !== undefined && state === 'failed')
        await rows(app, 'update runs set status_reason = $2 where id = $1', [id, reason])
      if (reason !== undefined && state === 'waiting')
        await rows(app, 'update runs set waiting_on = $2 where id = $1', [id, reason])
      return id
    },
  }
}
