// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { gitIn } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { startKillable } from './killable-service.ts'
import { programSettings, startProgramApp } from './program-app.ts'

const lost = (logs: any[]) => logs.filter(entry => entry.observation?.code === 'agent_session_lost')
const settled = { timeout: 60_000, interval: 200 }

// These wait for the limits of the service: at the same time.
test.concurrent('an agent that never responds when it continues a session is ended, and another process gets the conversation as text', async () => {
  const settings = programSettings({ SESSIONS: 'load', CONTINUING: 'is silent' })
  await using app = await startProgramApp(() => ({ text: 'Hello.' }), {}, settings)
  const { id } = await createRun(app, { prompt: 'do: tool true | say One.', agent_type: 'program' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'do: session',
  })
  expect(await awaitRun(app, id, ({ turn, terminal }) => turn === 2 && terminal)).toMatchObject({
    status_reason: 'no_effect',
    result: expect.stringContaining('[prompt 1, repeated as text]'),
  })
  expect(lost(await allLogs(app, id))).toMatchObject([
    { observation: { message: expect.stringContaining('It did not respond within 30 s.') } },
  ])
}, 120_000)

test.concurrent.each(['initialize', 'session/new'])(
  'an agent that never responds to %s is ended after a minute, and the run fails with the reason',
  async method => {
    await using app = await startProgramApp(
      () => ({ text: 'Hello.' }),
      {},
      programSettings({ SILENT: method }),
    )
    const { id } = await createRun(app, { prompt: 'do: say One.', agent_type: 'program' })
    const run = await awaitEnd(app, id)
    expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
    expect(run.error.message).toContain('It did not respond within 60 s.')
  },
  120_000,
)

test('an agent that does nothing for as long as a tool may take is ended, and one that works longer in steps is not', async () => {
  await using app = await startProgramApp(() => ({ text: 'Hello.' }), { AGENTRUN_TOOL_MAX_SECONDS: '6' })
  const play = async (steps: string) =>
    awaitEnd(app, (await createRun(app, { prompt: `do: ${steps}`, agent_type: 'program' })).id)
  const run = await play('tool true | hang')
  expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
  expect(run.error.message).toContain('It has neither reported nor requested anything for 6 s.')
  expect(await play('tool sleep 2.5 | tool sleep 2.5 | tool sleep 2.5 | say Done.')).toMatchObject({
    status: 'completed',
    result: 'Done.',
  })
}, 120_000)

test('an agent that ignores the end of its prompt is ended, and a new process continues, whose calls have the same ids', async () => {
  await using app = await startProgramApp(() => ({ text: 'Hello.' }))
  const { id } = await createRun(app, { prompt: 'do: tool true | ignore cancel', agent_type: 'program' })
  const started = () => rows(app, "select 1 from journal where run_id = $1 and kind = 'tool_started'", [id])
  await expect.poll(started, { timeout: 20_000 }).toHaveLength(1)
  const message = { agent_run_id: id, prompt: 'do: tool echo new | say New process.', mode: 'interrupt' }
  expect(await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, message)).toMatchObject({
    status: 200,
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'New process.' })
  const calls = (await allLogs(app, id)).filter(({ tool_name }: any) => tool_name === 'bash')
  expect(calls.map(({ tool_input }: any) => tool_input.command)).toEqual(['true', 'echo new'])
}, 60_000)

test('an agent that reports more than ten thousand calls and plans in one turn fails the run with that reason', async () => {
  await using app = await startProgramApp(() => ({ text: 'Hello.' }))
  const { id } = await createRun(app, {
    prompt: 'do: say Before. | flood calls 1000 | flood plans 9001',
    agent_type: 'program',
  })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
  expect(run.error.message).toContain('It reported more than 10000 tool calls and plans in one turn.')
}, 180_000)

test('kill -9 in the middle of a command: the session continues, and nothing of it is done again', async () => {
  await using service = await startKillable(programSettings({ SESSIONS: 'load', REPEATS: '100' }))
  const prompt = 'do: tool echo x >>notes.txt | tool sleep 600 | session | tool true | say Done.'
  const { id } = await service.call('POST', '/run', { prompt, agent_type: 'program' })
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
    agent_type: 'program',
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
