import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../await-run.ts'
import {
  type CodingApp,
  calls,
  finish,
  makeRepository,
  responses,
  shell,
  startCodingApp,
} from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'

const post = (app: CodingApp, verb: string, body: Record<string, unknown>) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${verb}`, body)

/** Pauses the run and waits until its worker has released it. */
async function pause(app: CodingApp, agent_run_id: number) {
  expect((await post(app, 'pause', { agent_run_id })).body).toMatchObject({
    status: 'running',
    pause_requested_by: app.user_id,
  })
  const paused = await awaitRun(app, agent_run_id, run => run.status === 'paused')
  expect(paused).toMatchObject({
    status_reason: 'user_request',
    error: null,
    waiting_on: null,
    deadline_at: null,
    terminal: false,
  })
  expect(sandboxProcesses(app.data_dir)).toEqual([])
}
const goOn = (app: CodingApp, agent_run_id: number) => post(app, 'resume', { agent_run_id, prompt: 'Go on.' })

test('a pause in the middle of a command interrupts it; the resume continues in its files, in the same turn, and the agent is notified', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('echo kept > kept.txt; echo written; sleep 12345')), calls(shell('cat kept.txt')), {
      text: 'back',
    }),
  )
  const { id } = await createRun(app, { prompt: 'start' })
  for await (const { event } of followRun(app, id)) if (event === 'output') break
  await pause(app, id)
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    tool_name: 'shell',
    tool_output: { status: 'interrupted' },
  })
  expect((await goOn(app, id)).body).toMatchObject({ status: 'queued', turn: 1, pause_requested_at: null })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'back' })
  expect(JSON.stringify(app.model.requests[1]?.body)).toMatch(/\[Interrupted before it ended\.\].*Go on\./)
  expect(
    (await allLogs(app, id)).filter(entry => entry.tool_name === 'shell').at(-1).tool_output.output,
  ).toBe('kept\n')
})

test('a pause during a model call closes its connection; the resume repeats the call, with the messages sent since', async () => {
  await using app = await startCodingApp((_request, n) =>
    n === 0 ? { stall: 'before_body' } : finish('thought'),
  )
  const { id } = await createRun(app, { prompt: 'think hard' })
  await awaitRun(app, id, run => run.waiting_on === 'model' && app.model.requests.length === 1)
  await pause(app, id)
  await app.model.requests[0]?.closed
  await goOn(app, id)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'thought' })
  expect(JSON.stringify(app.model.requests[1]?.body)).toMatch(/think hard.*Go on\./)
})

test('a pause during the delay before a retry of the model takes effect immediately', async () => {
  await using app = await startCodingApp((_request, n) =>
    n === 0
      ? { status: 429, headers: { 'retry-after': '50' }, body: { error: { message: 'slow down' } } }
      : finish('later'),
  )
  const { id } = await createRun(app, { prompt: 'try' })
  await awaitRun(app, id, run => run.waiting_on === 'model_retry')
  await pause(app, id)
  await goOn(app, id)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'later' })
})

test('a pause during the push ends it; the resume pushes and proposes once', async () => {
  const repository = makeRepository()
  const hook = join(repository, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\nsleep 30\n', { mode: 0o755 })
  await using app = await startCodingApp(
    responses(calls(shell('echo late > late.txt')), { text: 'Written.' }, { text: 'Still written.' }),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'write late' })
  await awaitRun(app, id, run => run.waiting_on === 'push')
  await pause(app, id)
  rmSync(hook)
  await goOn(app, id)
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 1, github_pull_requests: [{ number: 1 }] })
  expect(app.git('show', `${run.branch}:late.txt`)).toBe('late\n')
})

test('a message to a run that is about to pause continues it, with the message', async () => {
  const held = Promise.withResolvers<void>()
  await using app = await startCodingApp(async (_request, n) => {
    if (n === 0) await held.promise
    return [calls(shell('echo one'))][n] ?? { text: 'heard' }
  })
  const { id } = await createRun(app, { prompt: 'start' })
  await awaitRun(app, id, run => run.waiting_on === 'model')
  // Both arrive before the worker reads the first: the last one counts.
  await Promise.all([post(app, 'pause', { agent_run_id: id }), goOn(app, id)])
  held.resolve()
  const run = await awaitRun(
    app,
    id,
    state => state.terminal || (state.status === 'paused' && state.pause_requested_at !== null),
  )
  if (run.status === 'paused') await goOn(app, id)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'heard' })
  expect(JSON.stringify(app.model.requests.at(-1)?.body)).toContain('Go on.')
})

test('a paused question is kept: the answer comes with the resume', async () => {
  await using app = await startCodingApp(
    responses(calls({ name: 'ask', arguments: { question: 'Which colour?' } }), { text: 'Blue it is.' }),
  )
  const { id } = await createRun(app, { prompt: 'paint' })
  await awaitRun(app, id, run => run.waiting_on === 'user_input')
  expect((await post(app, 'pause', { agent_run_id: id })).body).toMatchObject({
    status: 'paused',
    status_reason: 'user_request',
  })
  await post(app, 'resume', { agent_run_id: id, prompt: 'Blue' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'Blue it is.' })
})
