// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../database.ts'
import { gitIn, makeRepository } from '../runs/coding-app.ts'
import { type ServiceProcess, startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { callAgentApi } from './agent-api.ts'
import { agentEnv, REAL_AGENTS, type RealAgent, scriptOf } from './real-agents.ts'

/** On a machine with other work. */
const TIMEOUT_MS = 120_000
/** Of each agent, at other moments than those of the other agents. */
const KILLS = 3 * Number(process.env.TEST_MORE ?? 1)
const MAX_DELAY_MS = 400
/** The same moments in each run. `TEST_SEED=7` gives others. */
const seed = Number(process.env.TEST_SEED ?? 1)

/** The number of records of the journal, and the milliseconds after that. */
type Moment = { records: number; delay_ms: number }

/**
 * Moments from the first record of a run of an agent to its last, of which an undisturbed run has `all`: the
 * same on a fast and on a slow machine.
 */
const momentsOf = (agent: RealAgent, all: number): Moment[] => {
  const nth = REAL_AGENTS.indexOf(agent)
  const part = (seed * 0.618 + nth / REAL_AGENTS.length) % 1
  return Array.from({ length: KILLS }, (_, i) => ({
    records: 1 + Math.floor(((i + part) * all) / KILLS),
    delay_ms: (seed * 7919 + (nth * KILLS + i) * 104_729) % MAX_DELAY_MS,
  }))
}

const scriptFor = (agent: RealAgent) =>
  scriptOf(agent, [
    () => ({ text: 'I look first.', tool_calls: [agent.shell('cat count.js; sleep 0.3')] }),
    () => ({ tool_calls: [agent.write('two.js', 'export const two = 2\n')] }),
    () => ({ tool_calls: [agent.shell('sleep 0.3; cat two.js')] }),
    () => ({ text: 'I added two.js.' }),
  ])

const call = ({ base_url }: ServiceProcess, method: string, path: string, body?: unknown) =>
  callAgentApi(base_url, method, path, body)

const journalOf = async (client: pg.Client, id: number): Promise<string[]> =>
  (await client.query('select kind from journal where run_id = $1 order by n', [id])).rows.map(
    ({ kind }) => kind,
  )

const isWorking = async (client: pg.Client, id: number): Promise<boolean> =>
  (await client.query("select 1 from runs where id = $1 and status = 'running' and phase = 'agent'", [id]))
    .rows.length === 1

/** The state of a run, with its last entries for the message of a failure. */
async function stateOf(service: ServiceProcess, id: number): Promise<object> {
  const { status, phase, waiting_on, result, error } = await call(service, 'GET', `/run/${id}`)
  const { logs } = await call(service, 'GET', `/run/${id}/logs`)
  const last = logs
    .slice(-4)
    .map(({ message_type, tool_name, observation }: any) => [message_type, tool_name, observation])
  return { status, phase, waiting_on, result, error, last: JSON.stringify(last) }
}

/**
 * Waits for the end of a run, which has one pull request, a trace without gaps, and an outcome of every call
 * of the model.
 */
async function expectWhole(
  service: ServiceProcess,
  client: pg.Client,
  repository: string,
  id: number,
  message: string,
): Promise<void> {
  await expect
    .poll(() => stateOf(service, id), { timeout: TIMEOUT_MS, interval: 200, message })
    .toMatchObject({
      status: 'completed',
      result: 'I added two.js.',
      last: expect.stringContaining('FINAL_ANSWER'),
    })
  const run = await call(service, 'GET', `/run/${id}`)
  const { logs } = await call(service, 'GET', `/run/${id}/logs`)
  expect(logs.map((entry: any) => entry.seq)).toEqual(logs.map((_: unknown, i: number) => i + 1))
  expect(run.github_pull_requests).toHaveLength(1)
  const head = run.github_pull_requests[0].head_branch_name
  expect(gitIn(repository, 'show', `${head}:two.js`)).toBe('export const two = 2\n')
  const journal = await journalOf(client, id)
  const count = (...kinds: string[]) => journal.filter(kind => kinds.includes(kind)).length
  expect(count('model_answered', 'model_failed')).toBe(count('model_started'))
}

test.each(REAL_AGENTS)(
  'kill -9 at any moment of a run of $id: another process continues it to one pull request, and every call of the model is accounted for',
  async agent => {
    const repository = makeRepository()
    await using database = await createTestDatabase()
    await using model = await agent.wire.start(scriptFor(agent))
    const env = {
      AGENTRUN_DATA_DIR: join(testFolder(), 'data'),
      DATABASE_URL: database.url,
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_LIMIT_STANDARD: 'off',
      AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
      AGENTRUN_LIMIT_AGENT_CREATION: 'off',
      AGENTRUN_INIT_REPO_URL: repository,
      ...(await agentEnv(agent, model)),
    }
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    let service = await startServiceProcess(env)
    const create = async (): Promise<number> =>
      (await call(service, 'POST', '/run', { prompt: 'Add two.js.', agent_type: agent.id })).id
    let working = 0
    try {
      const undisturbed = await create()
      await expectWhole(service, client, repository, undisturbed, 'not killed')
      const all = (await journalOf(client, undisturbed)).length
      for (const { records, delay_ms } of momentsOf(agent, all)) {
        const id = await create()
        const count = async () => (await journalOf(client, id)).length
        await expect.poll(count, { timeout: TIMEOUT_MS, interval: 5 }).toBeGreaterThanOrEqual(records)
        await new Promise(resolve => setTimeout(resolve, delay_ms))
        service.child.kill('SIGKILL')
        await service.ended
        if (await isWorking(client, id)) working++
        service = await startServiceProcess(env)
        await expectWhole(service, client, repository, id, `killed ${delay_ms} ms after record ${records}`)
      }
      // The moments are those of the agent's work, not before and after it.
      expect(working).toBeGreaterThan(KILLS / 2)
    } finally {
      service.child.kill('SIGKILL')
      await service.ended
      await client.end()
    }
  },
  TIMEOUT_MS * KILLS,
)
