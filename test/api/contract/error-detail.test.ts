import { expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

test('F128 an internal error is a 500 without internal details; the log has it under the same id', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'a secret prompt' })
  await rows(app, 'alter table log_entries rename to gone')
  await rows(app, 'alter table changes drop column patch')
  const run = `/v1/organizations/${app.org_id}/agent/run`
  for (const [method, path, body] of [
    ['GET', `${run}/${id}/logs`, undefined],
    ['GET', `${run}/${id}/logs?q=x`, undefined],
    ['GET', `${run}/${id}/diff`, undefined],
    ['POST', `${run}/resume`, { agent_run_id: id, prompt: 'a secret prompt' }],
    ['POST', run, { prompt: 'a secret prompt' }],
  ] as const) {
    const response = await app.call(method, path, body)
    const problem = expectProblem(response, 500)
    expect(problem).toMatchObject({ code: 'internal', title: 'Internal error', errors: [] })
    expect(problem.detail).toBe(
      'Something went wrong on our side. The request id leads to the details in the log.',
    )
    expect(JSON.stringify(response.body)).not.toMatch(
      /log_entries|changes|relation|column|select|insert|\.ts|node_modules|at /i,
    )
    const logged = app.logs.find(line => line.fields?.request_id === problem.request_id)
    expect(logged).toMatchObject({ level: 'error', message: 'request failed' })
    expect(String(logged?.fields?.error)).toMatch(
      /relation "log_entries" does not exist|column "patch" does not exist/,
    )
    expect(String(logged?.fields?.error)).not.toContain('secret')
  }
  // Nothing of the two refused writes remains, and the service continues.
  expect(await rows(app, 'select id, turn from runs')).toEqual([{ id, turn: 1 }])
  expect((await app.call('GET', `${run}/${id}`)).status).toBe(200)
})
