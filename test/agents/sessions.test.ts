// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type CodingApp, gitIn } from '../runs/coding-app.ts'
import { startKillable } from './killable-service.ts'
import { programSettings, startProgramApp } from './program-app.ts'

const agent_type = 'program'
const hello = () => ({ text: 'Hello.' })
const startApp = (variables: Record<string, string>, settings: object = {}) =>
  startProgramApp(hello, {}, { ...settings, ...programSettings(variables) })
const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, ...more })

/** Runs the steps to their end and then those of a follow-up, and returns the run with its trace. */
async function followUp(app: CodingApp, first: string, second: string): Promise<{ run: any; logs: any[] }> {
  const { id } = await createRun(app, { prompt: `do: ${first}`, agent_type })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  expect((await resume(app, id, { prompt: `do: ${second}` })).status).toBe(200)
  const run = await awaitRun(app, id, ({ turn, terminal }) => turn === 2 && terminal)
  return { run, logs: await allLogs(app, id) }
}
const lost = (logs: any[]) => logs.filter(entry => entry.observation?.code === 'agent_session_lost')

test.each(['load', 'resume'])(
  'a follow-up continues the session of an agent that offers session/%s, and what the agent repeats of it is not in the trace again',
  async SESSIONS => {
    await using app = await startApp({ SESSIONS, REPEATS: SESSIONS === 'load' ? '10000' : '0' })
    const { run, logs } = await followUp(app, 'tool true | say One.', 'session | tool true | say Two.')
    expect(run).toMatchObject({ status: 'completed', result: 'Two.' })
    expect(logs.filter(({ tool_name }) => tool_name === 'bash')).toMatchObject([
      {},
      { thought: '[prompt 2, continued]' },
    ])
    expect(JSON.stringify(logs)).not.toContain('repeated ')
    expect(lost(logs)).toEqual([])
  },
)

test('an agent that does not offer it gets the conversation as text', async () => {
  await using app = await startApp({})
  const { run, logs } = await followUp(app, 'say One.', 'tool true | session')
  expect(run).toMatchObject({ status: 'completed', result: '[prompt 1, repeated as text]' })
  expect(lost(logs)).toEqual([])
})

test.each([
  ['fails', 'It reported an error: Resource not found'],
  ['exits', 'It ended with exit code 4'],
  ['breaks', 'It reported an error: The session is broken'],
])(
  'an agent that %s when it continues a session gets the conversation as text, and the trace shows why',
  async (CONTINUING, why) => {
    await using app = await startApp({ SESSIONS: 'load', CONTINUING, REPEATS: '3' })
    const { run, logs } = await followUp(app, 'tool true | say One.', 'call | session')
    expect(run).toMatchObject({ status: 'completed', result: '[200][prompt 1, repeated as text]' })
    expect(lost(logs)).toMatchObject([
      { message_type: 'ERROR', observation: { message: expect.stringContaining(why) } },
    ])
    expect(logs.filter(({ tool_name }) => tool_name === 'bash')).toHaveLength(1)
  },
)

test('a session that has failed is not continued by the next message', async () => {
  await using app = await startApp({ SESSIONS: 'resume' })
  const { id } = await createRun(app, { prompt: 'do: tool true | exit 1', agent_type })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
  expect((await resume(app, id, { prompt: 'do: tool true | session' })).status).toBe(200)
  expect(await awaitRun(app, id, ({ turn, terminal }) => turn === 2 && terminal)).toMatchObject({
    result: '[prompt 1, repeated as text]',
  })
})

test('an approved call is made again in the session in which it waited', async () => {
  await using app = await startApp({ SESSIONS: 'load' }, { permissions: 'ask' })
  const { id } = await createRun(app, { prompt: 'do: permission touch a | session', agent_type })
  expect(await awaitRun(app, id, ({ status, terminal }) => status === 'waiting' || terminal)).toMatchObject({
    status: 'waiting',
  })
  expect((await resume(app, id, { prompt: 'Yes.', approve: true })).status).toBe(200)
  const { status, result } = await awaitEnd(app, id)
  expect([status, result]).toEqual([
    'completed',
    '[{"outcome":"selected","optionId":"once"}][prompt 2, continued]',
  ])
})

const settled = { timeout: 60_000, interval: 200 }

test('kill -9 in the middle of a command: the session continues, and nothing of it is done again', async () => {
  await using service = await startKillable(programSettings({ SESSIONS: 'load', REPEATS: '100' }))
  const prompt = 'do: tool echo x >>notes.txt | tool sleep 600 | session | tool true | say Done.'
  const { id } = await service.call('POST', '/run', { prompt, agent_type })
  const started = "select 1 from journal where run_id = $1 and kind = 'tool_started'"
  await expect.poll(async () => (await service.rows(started, [id])).length, settled).toBe(2)
  await service.killAndRestart()
  const run = () => service.call('GET', `/run/${id}`)
  await expect.poll(async () => (await run()).status, settled).toBe('completed')
  const { logs } = await service.call('GET', `/run/${id}/logs`)
  expect(lost(logs)).toEqual([])
  expect(logs.filter((entry: any) => entry.tool_name === 'bash')).toMatchObject([
    { tool_input: { command: 'echo x >>notes.txt' }, tool_output: { status: 'ok' } },
    { tool_input: { command: 'sleep 600' }, tool_output: { status: 'interrupted' } },
    { tool_input: { command: 'true' }, tool_output: { status: 'ok' }, thought: '[prompt 2, continued]' },
  ])
  const { github_pull_requests: pulls, result } = await run()
  expect([result, gitIn(service.repository, 'show', `${pulls[0].head_branch_name}:notes.txt`)]).toEqual([
    'Done.',
    'x\n',
  ])
}, 120_000)

test('a worker without the files of the session does not try to continue it, and the agent gets the conversation as text', async () => {
  await using service = await startKillable(programSettings({ SESSIONS: 'load', REPEATS: '100' }))
  const { id } = await service.call('POST', '/run', {
    prompt: 'do: tool echo x >notes.txt | say One.',
    agent_type,
  })
  const run = () => service.call('GET', `/run/${id}`)
  await expect.poll(async () => (await run()).status, settled).toBe('completed')
  await service.killAndRestart(true)
  await service.call('POST', '/run/resume', { agent_run_id: id, prompt: 'do: tool true | session' })
  await expect
    .poll(async () => ((await run()).turn === 2 ? (await run()).result : null), settled)
    .toBe('[prompt 1, repeated as text]')
  expect(lost((await service.call('GET', `/run/${id}/logs`)).logs)).toEqual([])
}, 120_000)
