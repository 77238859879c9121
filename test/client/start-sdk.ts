import { afterAll } from 'vitest'
import { createClient, type RunEvent } from '../../src/client/sdk/client.ts'
import { notifyRun } from '../../src/store/notify.ts'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { addTenant } from '../api/access/second-organization.ts'
import { putRun } from '../api/runs/put-run.ts'
import { createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'

/** The service without workers, for all tests of a file, clients of it, and runs that the test advances. */
export async function startSdk() {
  const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  afterAll(() => app[Symbol.asyncDispose]())
  /** Adds entries as a worker would, and notifies the streams. */
  async function grow(id: number, count: number) {
    const entries = Array.from({ length: count }, (_, i) =>
      entry({ message_type: i % 2 ? 'PLAN_EVALUATION' : 'FINAL_ANSWER', thought: `${i}` }),
    )
    await append(app.db, app.org_id, id, null, { entries })
    await notifyRun(app.db, app.org_id, id)
  }
  return {
    app,
    other: await addTenant(app),
    grow,
    clientOf: (options: { base_url?: string; organization_id?: number; fetch?: typeof fetch } = {}) =>
      createClient({ base_url: app.base_url, token: app.token, ...options }),
    async newRun(entries: number): Promise<number> {
      const { id } = await createRun(app, { prompt: 'x' })
      if (entries > 1) await grow(id, entries - 1)
      return id
    },
    async end(id: number, status: 'completed' | 'waiting' | 'paused' = 'completed') {
      await putRun(app, id, status)
      await notifyRun(app.db, app.org_id, id)
    },
  }
}

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

export const seqs = (events: RunEvent[]) => events.flatMap(event => (event.type === 'log' ? [event.seq] : []))
