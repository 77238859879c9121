// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import type { CodingApp } from '../runs/coding-app.ts'
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
