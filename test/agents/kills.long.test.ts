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
const KILLS = 4 * Number(process.env.TEST_MORE ?? 1)
/** The same moments in each run. `TEST_SEED=7` gives others. */
const seed = Number(process.env.TEST_SEED ?? 1)
const moments = Array.from({ length: KILLS }, (_, i) => 200 + ((seed * 7919 + i * 104_729) % 6_000))

const scriptFor = (agent: RealAgent) =>
  scriptOf(agent, [
    () => ({ text: 'I look first.', tool_calls: [agent.shell('cat count.js; sleep 0.3')] }),
    () => ({ tool_calls: [agent.write('two.js', 'export const two = 2\n')] }),
    () => ({ tool_calls: [agent.shell('sleep 0.3; cat two.js')] }),
    () => ({ text: 'I added two.js.' }),
  ])

const call = ({ base_url }: ServiceProcess, method: string, path: string, body?: unknown) => callAgentApi(base_url, method, path, body)

/** The state of a run, with its last entries for the message of a failure. */
async function stateOf(service: ServiceProcess, id: number): Promise<object> {
  const { status, phase, waiting_on, result, error } = await call(service, 'GET', `/run/${id}`)
  const { logs } = await call(service, 'GET', `/run/${id}/logs`)
  const last = logs.slice(-4).map(({ message_type, tool_name, observation }: any) => [message_type, tool_name, observation])
  return { status, phase, waiting_on, result, error, last: JSON.stringify(last) }
}

test.each(REAL_AGENTS)(
  'kill -9 at any moment of a run of $id: another process continues it to one pull request, and every call of the model is accounted for',
  async agent => {
    const repository = makeRepository()
    await using database = await createTestDatabase()
    await using model = await agent.wire.start(scriptFor(agent))
    const env = {
      ...{ AGENTRUN_DATA_DIR: join(testFolder(), 'data'), DATABASE_URL: database.url, AGENTRUN_INIT_TOKEN: TOKEN },
      ...{ AGENTRUN_LIMIT_STANDARD: 'off', AGENTRUN_LIMIT_TOKEN_TOTAL: 'off', AGENTRUN_INIT_REPO_URL: repository },
      ...(await agentEnv(agent, model)),
    }
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    let service = await startServiceProcess(env)
    try {
      for (const moment of moments) {
        const { id } = await call(service, 'POST', '/run', { prompt: 'Add two.js.', agent_type: agent.id })
        await new Promise(resolve => setTimeout(resolve, moment))
        service.child.kill('SIGKILL')
        await service.ended
        service = await startServiceProcess(env)
        await expect
          .poll(() => stateOf(service, id), { timeout: TIMEOUT_MS, interval: 200, message: `killed after ${moment} ms` })
          .toMatchObject({ status: 'completed', result: 'I added two.js.', last: expect.stringContaining('FINAL_ANSWER') })
        const run = await call(service, 'GET', `/run/${id}`)
        const { logs } = await call(service, 'GET', `/run/${id}/logs`)
        expect(logs.map((entry: any) => entry.seq)).toEqual(logs.map((_: unknown, i: number) => i + 1))
        expect(run.github_pull_requests).toHaveLength(1)
        const head = run.github_pull_requests[0].head_branch_name
        expect(gitIn(repository, 'show', `${head}:two.js`)).toBe('export const two = 2\n')
        const { rows } = await client.query('select kind from journal where run_id = $1 order by n', [id])
        const count = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind)).length
        expect(count('model_answered', 'model_failed')).toBe(count('model_started'))
      }
    } finally {
      service.child.kill('SIGKILL')
      await service.ended
      await client.end()
    }
  },
  TIMEOUT_MS * KILLS,
)
