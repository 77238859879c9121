// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { programSettings, startProgramApp } from './program-app.ts'

test('an agent that never responds when it continues a session is ended, and another process gets the conversation as text', async () => {
  const settings = programSettings({ SESSIONS: 'load', CONTINUING: 'is silent' })
  await using app = await startProgramApp(() => ({ text: 'Hello.' }), {}, settings)
  const { id } = await createRun(app, { prompt: 'do: tool true | say One.', agent_type: 'program' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, prompt: 'do: session' })
  expect(await awaitRun(app, id, ({ turn, terminal }) => turn === 2 && terminal)).toMatchObject({
    status_reason: 'no_effect',
    result: expect.stringContaining('[prompt 1, repeated as text]'),
  })
  const lost = (await allLogs(app, id)).filter((entry: any) => entry.observation?.code === 'agent_session_lost')
  expect(lost).toMatchObject([{ observation: { message: expect.stringContaining('It did not respond within 30 s.') } }])
}, 120_000)

test.each(['initialize', 'session/new'])(
  'an agent that never responds to %s is ended after a minute, and the run fails with the reason',
  async method => {
    await using app = await startProgramApp(() => ({ text: 'Hello.' }), {}, programSettings({ SILENT: method }))
    const { id } = await createRun(app, { prompt: 'do: say One.', agent_type: 'program' })
    const run = await awaitEnd(app, id)
    expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
    expect(run.error.message).toContain('It did not respond within 60 s.')
  },
  120_000,
)

test('an agent that does nothing for as long as a tool may take is ended, and one that works longer in steps is not', async () => {
  await using app = await startProgramApp(() => ({ text: 'Hello.' }), { AGENTRUN_TOOL_MAX_SECONDS: '6' })
  const play = async (steps: string) => awaitEnd(app, (await createRun(app, { prompt: `do: ${steps}`, agent_type: 'program' })).id)
  const run = await play('tool true | hang')
  expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
  expect(run.error.message).toContain('It has neither reported nor requested anything for 6 s.')
  expect(await play('tool sleep 2.5 | tool sleep 2.5 | tool sleep 2.5 | say Done.')).toMatchObject({ status: 'completed', result: 'Done.' })
}, 120_000)
