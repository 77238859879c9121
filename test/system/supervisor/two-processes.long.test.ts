import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Database } from '../../../src/store/database.ts'
import { isAlive, waitUntil } from '../../../src/system/processes.ts'
import { createTestDatabase } from '../../database.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import { makeRepository, pricedProvider } from '../../runs/coding-app.ts'
import { no_reviews } from '../../runs/recovery/service-process.ts'
import { script, settings } from '../../runs/stalls/occupied-worker.ts'
import { TOKEN } from '../../start-app.ts'
import { testFolder } from '../../temporary-folder.ts'
import { program_env } from '../program-env.ts'
import { real_main, superviseClone } from './supervised-clone.ts'

type ApiResponse = { status: number; body: { id: number; status: string; runs?: unknown[] } }

/** The service with its two processes, as `npm start` starts it. */
async function startBoth(env: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase())
  const db = stack.use(new Database(database.url, { max: 1, on_error: () => {} }))
  const model = stack.use(await startFakeOpenAI(script))
  const data = join(testFolder(), 'data')
  const started = superviseClone(real_main, {
    ...program_env,
    ...no_reviews,
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: data,
    AGENTRUN_PORT: '0',
    AGENTRUN_METRICS_PORT: '0',
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: makeRepository(),
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    ...pricedProvider(model),
    ...env,
  })
  stack.use(started.resources)
  await started.output(/Start a run/)
  const request = async (method: string, path: string, body?: unknown, start = 1): Promise<ApiResponse> => {
    const address = await started.output(/ready: +(\S+)/, start)
    const response = await fetch(`${address}/v1/organizations/1/agent${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
  }
  /** The running process of a role, when it has reported itself. */
  const pidOf = async (role: string): Promise<number> => {
    const alive = async () => {
      const { rows } = await db.query<{ pid: number }>({
        text: 'select pid from processes where role = $1',
        values: [role],
      })
      return rows.map(({ pid }) => pid).filter(isAlive)
    }
    await expect.poll(alive, { timeout: 30_000 }).toHaveLength(1)
    return (await alive())[0] ?? 0
  }
  return { ...started, stack, db, data, request, pidOf }
}

test('while the event loop of the worker is blocked, and when the worker is killed, the API serves as before', async () => {
  const { stack, db, request, pidOf, output, supervisor, closed, text } = await startBoth(settings)
  await using _ = stack
  await output(/the worker is ready/)
  const api = await pidOf('serve')
  const worker = await pidOf('work')
  const { body: run } = await request('POST', '/run', { prompt: 'occupy: 9999' })
  const isStalled = async () => {
    const { rows } = await db.query<{ stalled: boolean }>({
      text: 'select stalled_epoch is not distinct from epoch as stalled from runs where id = $1',
      values: [run.id],
    })
    return rows[0]?.stalled
  }
  await expect.poll(isStalled, { timeout: 60_000 }).toBe(true)
  expect((await request('GET', '/runs')).status).toBe(200)
  const { status, body: next } = await request('POST', '/run', { prompt: 'command: true' })
  expect([status, next.status]).toEqual([200, 'queued'])
  process.kill(worker, 'SIGKILL')
  expect(await output(/agentrun: .*/)).toMatch(
    /^agentrun: the worker ended by signal SIGKILL; restart 1 of 10/,
  )
  expect((await request('GET', '/runs')).status).toBe(200)
  await output(/the worker is ready/, 2)
  expect(await pidOf('serve')).toBe(api)
  expect(text().match(/Start a run/g)).toHaveLength(1)
  supervisor.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
}, 180_000)

test('a run continues without a recovery while the API is killed and started again, and both processes end with the supervisor', async () => {
  const { stack, db, data, request, pidOf, output, child, supervisor, closed } = await startBoth()
  await using _ = stack
  const command = 'echo >started; until [[ -e go ]]; do sleep 0.1; done'
  const { body: run } = await request('POST', '/run', { prompt: `command: ${command}` })
  const started = () =>
    readdirSync(join(data, 'workspaces'), { recursive: true, encoding: 'utf8' }).find(path =>
      path.endsWith('/started'),
    )
  expect(await waitUntil(() => started() !== undefined, 30_000)).toBe(true)
  const worker = await pidOf('work')
  process.kill(child(), 'SIGKILL')
  expect(await output(/agentrun: .*/)).toMatch(/^agentrun: the API ended by signal SIGKILL; restart 1 of 10/)
  await output(/Start a run/, 2)
  writeFileSync(join(data, 'workspaces', dirname(started() ?? ''), 'go'), '')
  await expect
    .poll(async () => (await request('GET', `/run/${run.id}`, undefined, 2)).body.status, { timeout: 30_000 })
    .toBe('completed')
  const { rows } = await db.query({ text: 'select epoch, losses from runs where id = $1', values: [run.id] })
  expect(rows).toEqual([{ epoch: 1, losses: 0 }])
  expect(await pidOf('work')).toBe(worker)
  supervisor.kill('SIGKILL')
  // Their pipes close when both have ended.
  expect(await closed).toEqual([null, 'SIGKILL'])
  expect(isAlive(worker)).toBe(false)
}, 180_000)
