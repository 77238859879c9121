import { expect, test } from 'vitest'
import { createTestDatabase } from '../../database.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import { TOKEN } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { makeRepository, pricedProvider } from '../coding-app.ts'
import { type ServiceProcess, startServiceProcess } from '../recovery/service-process.ts'
import { script, settings } from './occupied-worker.ts'

type Run = {
  id: number
  status: string
  status_reason: string | null
  waiting_on: string | null
  terminal: boolean
}

async function request(service: ServiceProcess, method: string, path: string, body?: unknown): Promise<Run> {
  const response = await fetch(`${service.base_url}/v1/organizations/1/agent/run${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Run
}

test('a run that exhausts the memory of the service is recovered once, alone, and then fails; its neighbour continues', async () => {
  await using database = await createTestDatabase()
  await using model = await startFakeOpenAI(script)
  using folder = temporaryFolder()
  const env = {
    ...settings,
    // V8 ends the process within a second: before anything could be recorded.
    NODE_OPTIONS: `${settings.NODE_OPTIONS} --max-old-space-size=192`,
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: `${folder.path}/data`,
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: makeRepository(),
    AGENTRUN_SECRET_KEY: '0'.repeat(64),
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    ...pricedProvider(model),
  }
  let service = await startServiceProcess(env)
  await using _service = {
    async [Symbol.asyncDispose]() {
      service.child.kill('SIGKILL')
      await service.ended
    },
  }
  const untilRun = async (id: number, fits: (run: Run) => boolean): Promise<Run> => {
    const run = () => request(service, 'GET', `/${id}`)
    await expect.poll(async () => fits(await run()), { timeout: 60_000 }).toBe(true)
    return run()
  }
  const neighbour = await request(service, 'POST', '', { prompt: 'command: sleep 5' })
  await untilRun(neighbour.id, run => run.waiting_on === 'tool')
  const { id } = await request(service, 'POST', '', { prompt: 'exhaust: 1' })
  for (let deaths = 1; deaths <= 2; deaths++) {
    expect(['SIGABRT', 'SIGTRAP']).toContain((await service.ended).signal)
    // As supervisor.sh does.
    service = await startServiceProcess({ ...env, SUPERVISOR_CRASHED_PID: String(service.child.pid) })
  }
  expect(await untilRun(id, run => run.terminal)).toMatchObject({
    status: 'failed',
    status_reason: 'worker_stalled',
  })
  expect(await untilRun(neighbour.id, run => run.terminal)).toMatchObject({ status: 'completed' })
}, 180_000)
