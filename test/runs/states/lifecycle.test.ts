import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../await-run.ts'
import { calls, finish, responses, shell, startCodingApp } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'

const resumePath = (org_id: number) => `/v1/organizations/${org_id}/agent/run/resume`
const stopPath = (org_id: number) => `/v1/organizations/${org_id}/agent/run/stop`

test('a stop in the middle of a command ends the run as cancelled and leaves no process', async () => {
  await using app = await startCodingApp(responses(calls(shell('setsid sleep 12345 & sleep 12345'))))
  const { id } = await createRun(app, { prompt: 'sleep' })
  for await (const { event } of followRun(app, id)) if (event === 'tool') break
  expect(sandboxProcesses(app.data_dir).length).toBeGreaterThan(0)
  const stopping = await app.call('POST', stopPath(app.org_id), { agent_run_id: id })
  expect(stopping).toMatchObject({ status: 200, body: { status: expect.stringMatching(/^cancell/) } })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'cancelled', status_reason: null, result: '', terminal: true })
  expect(sandboxProcesses(app.data_dir)).toEqual([])
  const logs = await allLogs(app, id)
  expect(logs.at(-1)).toMatchObject({
    message_type: 'ACTION',
    tool_name: 'shell',
    tool_output: { status: 'interrupted' },
  })
  expect((await app.call('POST', stopPath(app.org_id), { agent_run_id: id })).body).toMatchObject({
    status: 'cancelled',
  })
})

test('a stop while the model thinks closes its connection', async () => {
  await using app = await startCodingApp(() => ({ stall: 'before_body' }))
  const { id } = await createRun(app, { prompt: 'think' })
  await awaitRun(app, id, run => run.status === 'running')
  await app.call('POST', stopPath(app.org_id), { agent_run_id: id })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
  await app.model.requests[0]?.closed
})

test('a queued run is cancelled immediately', async () => {
  await using app = await startCodingApp(responses(), { AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'wait' })
  expect((await app.call('POST', stopPath(app.org_id), { agent_run_id: id })).body).toMatchObject({
    status: 'cancelled',
    terminal: true,
  })
})

test('a cancelled run is resumed in its workspace, and the agent is notified that its call was interrupted', async () => {
  await using app = await startCodingApp(
    (_request, n) =>
      [calls(shell('echo kept > kept.txt; echo written; sleep 12345')), calls(shell('cat kept.txt'))][n] ?? {
        text: 'back',
      },
  )
  const { id } = await createRun(app, { prompt: 'start' })
  for await (const { event } of followRun(app, id)) if (event === 'output') break
  await app.call('POST', stopPath(app.org_id), { agent_run_id: id })
  await awaitEnd(app, id)
  await app.call('POST', resumePath(app.org_id), { agent_run_id: id, prompt: 'go on' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 2, result: 'back' })
  expect(JSON.stringify(app.model.requests[1]?.body)).toContain('[Interrupted before it ended.]')
  const shells = (await allLogs(app, id)).filter(entry => entry.tool_name === 'shell')
  expect(shells.at(-1).tool_output.output).toBe('kept\n')
})

test('a message to a running run reaches the next model call', async () => {
  const requested = Promise.withResolvers<void>()
  await using app = await startCodingApp(async (_request, n) => {
    if (n === 1) await requested.promise
    return [calls(shell('true')), calls(shell('true'))][n] ?? { text: 'heard' }
  })
  const { id } = await createRun(app, { prompt: 'work' })
  for await (const { event, data } of followRun(app, id))
    if (event === 'log' && data.tool_name === 'shell') break
  const steered = await app.call('POST', resumePath(app.org_id), {
    agent_run_id: id,
    prompt: 'Also mind the gap.',
  })
  expect(steered.body).toMatchObject({ status: 'running', turn: 1 })
  requested.resolve()
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'heard' })
  expect(JSON.stringify(app.model.requests[2]?.body)).toContain('Also mind the gap.')
  const message = (await allLogs(app, id)).find(entry => entry.observation?.text === 'Also mind the gap.')
  expect(message).toMatchObject({ message_type: 'USER_MESSAGE', observation: { mode: 'steer' } })
})

test('an interruption ends the running step, and the message comes next', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('sleep 12345'), shell('echo never')), { text: 'as you say' }),
  )
  const { id } = await createRun(app, { prompt: 'work' })
  for await (const { event } of followRun(app, id)) if (event === 'tool') break
  await app.call('POST', resumePath(app.org_id), {
    agent_run_id: id,
    prompt: 'Stop that.',
    mode: 'interrupt',
  })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', result: 'as you say' })
  const shells = (await allLogs(app, id)).filter(entry => entry.tool_name === 'shell')
  expect(shells.map(entry => entry.tool_output.status)).toEqual(['interrupted', 'interrupted'])
  expect(JSON.stringify(app.model.requests[1]?.body)).toContain('Stop that.')
})

test('an enqueued message becomes a turn of its own after this one', async () => {
  const enqueued = Promise.withResolvers<void>()
  await using app = await startCodingApp(async (_request, n) => {
    if (n === 0) await enqueued.promise
    return finish(n === 0 ? 'one' : 'two')
  })
  const { id } = await createRun(app, { prompt: 'first' })
  await awaitRun(app, id, run => run.status === 'running')
  await app.call('POST', resumePath(app.org_id), { agent_run_id: id, prompt: 'second', mode: 'enqueue' })
  enqueued.resolve()
  const run = await awaitRun(app, id, state => state.turn === 2 && state.terminal)
  expect(run).toMatchObject({ status: 'completed', result: 'two' })
  const finals = (await allLogs(app, id)).filter(entry => entry.message_type === 'FINAL_ANSWER')
  expect(finals.map(entry => [entry.turn, entry.observation])).toEqual([
    [1, 'one'],
    [2, 'two'],
  ])
})

test('a question waits for a person without a sandbox, and the answer continues the turn', async () => {
  await using app = await startCodingApp(
    responses(calls({ name: 'ask', arguments: { question: 'Which colour?' } }), { text: 'Blue it is.' }),
  )
  const { id } = await createRun(app, { prompt: 'paint' })
  const waiting = await awaitRun(app, id, run => run.status === 'waiting')
  expect(waiting).toMatchObject({ waiting_on: 'user_input', phase: null, terminal: false })
  expect(sandboxProcesses(app.data_dir)).toEqual([])
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    tool_name: 'ask',
    tool_input: { question: 'Which colour?' },
    observation: 'Which colour?',
  })
  await app.call('POST', resumePath(app.org_id), { agent_run_id: id, prompt: 'Blue' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'Blue it is.' })
})
