import { expect, test } from 'vitest'
import { signalProcess } from '../../../src/system/processes.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../await-run.ts'
import { type CodingApp, calls, responses, shell, startCodingApp } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'

const resumePath = (org_id: number) => `/v1/organizations/${org_id}/agent/run/resume`

const killSandbox = (app: CodingApp): void => {
  for (const pid of sandboxProcesses(app.data_dir)) signalProcess(pid, 'SIGKILL')
}

const codes = (logs: Awaited<ReturnType<typeof allLogs>>) =>
  logs.filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation.code)

test('a sandbox killed during a command: its outcome is unknown to the agent, and the run continues with its files automatically', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('echo kept > kept.txt; echo written; sleep 12345')), calls(shell('cat kept.txt')), {
      text: 'back',
    }),
  )
  const { id } = await createRun(app, { prompt: 'start' })
  for await (const { event } of followRun(app, id)) if (event === 'output') break
  killSandbox(app)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1, result: 'back' })
  const logs = await allLogs(app, id)
  const [first, second] = logs.filter(entry => entry.tool_name === 'shell' && entry.message_type === 'ACTION')
  expect(first.tool_output).toMatchObject({ status: 'interrupted' })
  expect(second.tool_output).toMatchObject({ output: 'kept\n' })
  expect(codes(logs)).toEqual(['sandbox_lost'])
  expect(JSON.stringify(app.model.requests.at(1)?.body)).toContain('it may or may not have completed')
})

test('a sandbox killed between two commands: the run continues, and no command is repeated', async () => {
  let running: CodingApp | null = null
  const list = [calls(shell('echo once >> count.txt')), calls(shell('cat count.txt')), { text: 'done' }]
  await using app = await startCodingApp((_request, n) => {
    if (n === 1 && running) killSandbox(running)
    // The interrupted call may run again.
    return list[Math.min(n, list.length - 1)] ?? { text: 'done' }
  })
  running = app
  const { id } = await createRun(app, { prompt: 'count' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1 })
  const written = app.git(
    'show',
    `${(await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body.branch}:count.txt`,
  )
  expect(written).toBe('once\n')
})

test('a sandbox killed during the commit: the next one creates the commit', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('echo work > work.txt')), { text: 'finished' }),
  )
  const { id } = await createRun(app, { prompt: 'work' })
  await awaitRun(app, id, run => run.phase !== null && !['sandbox', 'agent'].includes(run.phase))
  killSandbox(app)
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'finished' })
  expect(app.git('show', `${run.branch}:work.txt`)).toBe('work\n')
})

test('a run that loses every sandbox is continued three times, then it pauses and reports the reason; a resume continues it', async () => {
  let lose = true
  await using app = await startCodingApp((_request, n) =>
    lose ? calls(shell(`while sleep 0.2; do echo running; done # ${n}`)) : { text: 'through at last' },
  )
  const { id } = await createRun(app, { prompt: 'again' })
  for (let attempt = 0; attempt < 4; attempt++) {
    for await (const { event, data } of followRun(app, id))
      if (event === 'output' && data.call_id === `call_${attempt}_0`) break
    killSandbox(app)
  }
  const paused = await awaitRun(app, id, run => run.status === 'paused')
  expect(paused).toMatchObject({
    status_reason: 'sandbox_lost',
    error: { code: 'sandbox_lost', message: expect.stringContaining('a turn is continued 3 times at most') },
  })
  const logs = await allLogs(app, id)
  expect(codes(logs)).toEqual(['sandbox_lost', 'sandbox_lost', 'sandbox_lost'])
  expect(logs.filter(entry => entry.tool_name === 'shell').map(entry => entry.tool_output.status)).toEqual(
    Array(4).fill('interrupted'),
  )
  expect(await rows(app, 'select losses from runs where id = $1', [id])).toEqual([{ losses: 3 }])
  lose = false
  await app.call('POST', resumePath(app.org_id), { agent_run_id: id, prompt: 'go on' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'through at last' })
}, 120_000)

test('a run whose operator allows no recoveries pauses at the first loss', async () => {
  await using app = await startCodingApp(responses(calls(shell('echo here; sleep 12345'))), {
    AGENTRUN_RUN_MAX_RECOVERIES: '0',
  })
  const { id } = await createRun(app, { prompt: 'once' })
  for await (const { event } of followRun(app, id)) if (event === 'output') break
  killSandbox(app)
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({
    status_reason: 'sandbox_lost',
  })
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    tool_name: 'shell',
    tool_output: { status: 'interrupted' },
  })
})
