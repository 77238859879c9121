import { expect, test } from 'vitest'
import { signalProcess } from '../../../src/system/processes.ts'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'

const memory = { AGENTRUN_SANDBOX_MEMORY_BYTES: String(300 * 1024 ** 2) }

test('a command that uses up the memory of its run is killed, the limit is reported to the agent and in the trace, and the run continues', async () => {
  const greedy = `for i in 1 2 3; do perl -e 'my $a = "x" x (200 << 20); sleep 1000' & done
while (($(jobs -r | wc -l) > 1)); do sleep 0.05; done; kill %1 %2 %3 2>/dev/null`
  await using app = await startCodingApp(
    responses(calls(shell(greedy, 60)), calls(shell('echo still here')), { text: 'through' }),
    memory,
  )
  const { id } = await createRun(app, { prompt: 'want everything' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'through' })
  const logs = await allLogs(app, id)
  const [first, second] = logs.filter(entry => entry.tool_name === 'shell' && entry.message_type === 'ACTION')
  const { memory_kills, peak_memory_bytes } = first.tool_output
  expect(memory_kills).toBeGreaterThanOrEqual(2)
  expect(peak_memory_bytes).toBeGreaterThan(150 * 1024 ** 2)
  const reported = JSON.stringify(app.model.requests.at(1)?.body)
  expect(reported).toContain('all processes together may take 300 MiB of memory')
  expect(logs.filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation.code)).toContain(
    'oom',
  )
  expect(second.tool_output).toMatchObject({ status: 'ok', output: 'still here\n' })
}, 120_000)

test('a sandbox that ends after it used up its memory is not restarted: the run pauses, reports why, and continues with a resume', async () => {
  const greedy = `perl -e 'my $a = "x" x (400 << 20); sleep 1000'; echo killed; sleep 12345`
  await using app = await startCodingApp(responses(calls(shell(greedy)), { text: 'back' }), memory)
  const { id } = await createRun(app, { prompt: 'want everything' })
  for await (const { event } of followRun(app, id)) if (event === 'output') break
  for (const pid of sandboxProcesses(app.data_dir)) signalProcess(pid, 'SIGKILL')
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({
    turn: 1,
    status_reason: 'sandbox_lost',
    error: {
      code: 'sandbox_lost',
      message: expect.stringContaining('It used up its memory, so it was not restarted.'),
    },
  })
  const resumed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'use less',
  })
  expect(resumed.status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'back' })
})
