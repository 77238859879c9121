import { expect, test } from 'vitest'
import type { FakeScript } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

/** One run against a model server that follows `script`: its end and its trace. */
async function play(script: FakeScript, env: Record<string, string> = {}) {
  await using app = await startCodingApp(script, env)
  const { id } = await createRun(app, { prompt: 'do it' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(logs.map(entry => entry.seq)).toEqual(logs.map((_, i) => i + 1))
  const reported = app.logs.filter(line => line.level === 'error')
  if (run.status_reason !== 'model_auth') expect(reported).toEqual([])
  return {
    run,
    errors_logged: reported,
    logs,
    errors: logs.filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation),
    requests: app.model.requests,
  }
}

const ACCEPTED = { status: 'completed', error: null }

test('a request that gets 429 with Retry-After is retried after the delay, and the wait is in the trace', async () => {
  const { run, errors } = await play((_request, n) =>
    n === 0
      ? { status: 429, headers: { 'retry-after': '0' }, body: { error: { message: 'slow down' } } }
      : { text: 'ok' },
  )
  expect(run).toMatchObject(ACCEPTED)
  expect(errors).toMatchObject([{ code: 'rate_limited', retryable: true, phase: 'model', http_status: 429 }])
})

test('fault 25: a revoked key ends the run as model_auth immediately, the operator is notified, and the key appears nowhere', async () => {
  const { run, logs, requests, errors_logged } = await play(() => ({
    status: 401,
    body: { error: { message: 'invalid key key-of-the-model-server' } },
  }))
  expect(run).toMatchObject({ status: 'failed', status_reason: 'model_auth' })
  expect(requests).toHaveLength(1)
  expect(errors_logged).toMatchObject([
    { message: expect.stringContaining('rejects its key'), fields: { model: 'openai-compatible/fake' } },
  ])
  expect(JSON.stringify([logs, errors_logged])).not.toContain('key-of-the-model-server')
})

test('garbage instead of a stream is retried once and ends as model_unavailable', async () => {
  const { run, errors } = await play(() => ({ raw: ['data: {"this is no json\n\n'] }))
  expect(run).toMatchObject({
    status: 'failed',
    status_reason: 'model_unavailable',
    error: { code: 'malformed' },
  })
  expect(errors.map(error => [error.code, error.retryable, error.phase])).toEqual([
    ['malformed', true, 'model'],
    ['malformed', true, 'model'],
  ])
}, 60_000)

test('a refusal ends the run with the text of the refusal', async () => {
  const { run } = await play(() => ({ refusal: 'I will not.', finish: 'content_filter' }))
  expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error', error: { code: 'refused' } })
})

test('a model that stalls is given up after its idle time', async () => {
  const env = { AGENTRUN_MODEL_FIRST_BYTE_SECONDS: '1', AGENTRUN_MODEL_IDLE_SECONDS: '1' }
  const { run, errors } = await play(
    (_request, n) => (n === 0 ? { stall: 'before_body' } : { text: 'awake' }),
    env,
  )
  expect(run).toMatchObject(ACCEPTED)
  expect(errors).toMatchObject([{ code: 'timeout', retryable: true }])
})

test('an unknown tool and bad arguments are reported to the model, which continues', async () => {
  const script = responses(
    calls(
      { name: 'constructor', arguments: {} },
      { name: 'browse', arguments: { url: 'x' } },
      { name: 'shell', arguments: '["not an object"]' },
      { name: 'shell', arguments: { command: 7 } },
      { name: 'read', arguments: '{"path": ' },
    ),
    { text: 'I see.' },
  )
  const { run, logs, errors, requests } = await play(script)
  expect(run).toMatchObject({ ...ACCEPTED, result: 'I see.' })
  expect(errors.map(error => error.code)).toEqual([
    'unknown_tool',
    'unknown_tool',
    'bad_arguments',
    'bad_arguments',
    'bad_arguments',
  ])
  const actions = logs.filter(
    entry =>
      entry.message_type === 'ACTION' && !['git_clone', 'repository_instructions'].includes(entry.tool_name),
  )
  expect(actions.map(entry => entry.tool_output.status)).toEqual([
    'error',
    'error',
    'error',
    'error',
    'error',
  ])
  expect(JSON.stringify(requests[1]?.body)).toContain('There is no tool')
})

test('a model that repeats one call without end is stopped', async () => {
  const { run, logs } = await play(() => calls(shell('echo same')))
  expect(run).toMatchObject({
    status: 'failed',
    status_reason: 'agent_error',
    error: { code: 'repeated_call' },
  })
  expect(logs.filter(entry => entry.tool_name === 'shell').length).toBeLessThan(20)
})

test('a model that never finishes is stopped by the ceiling of steps', async () => {
  const { run } = await play((_request, n) => calls(shell(`echo ${n}`)), { AGENTRUN_RUN_MAX_STEPS: '5' })
  expect(run).toMatchObject({ status: 'failed', status_reason: 'max_steps' })
})

test('a resume continues a run that the ceiling of steps ended, with a new allowance', async () => {
  await using app = await startCodingApp(
    (_request, n) => (n < 8 ? calls(shell(`echo ${n} >> steps.txt`)) : { text: 'Done.' }),
    {
      AGENTRUN_RUN_MAX_STEPS: '5',
    },
  )
  const { id } = await createRun(app, { prompt: 'count', auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'max_steps',
    error: { message: expect.stringContaining('Resume the run') },
  })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Continue.',
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2, result: 'Done.' })
  expect(app.model.requests).toHaveLength(9)
})

test('empty responses are requested again, and end the run when they persist', async () => {
  const { run, errors, requests } = await play(() => ({ text: '' }))
  expect(run).toMatchObject({
    status: 'failed',
    status_reason: 'agent_error',
    error: { code: 'empty_answer' },
  })
  expect(errors[0]).toMatchObject({ code: 'empty_answer', retryable: true })
  expect(requests).toHaveLength(3)
})

test('a conversation that no longer fits is compacted once, then the run ends as out_of_tokens', async () => {
  const tooLong = {
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 8192 tokens",
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
      },
    },
  }
  const { run, requests } = await play((_request, n) => (n === 0 ? calls(shell('echo a')) : tooLong))
  expect(run).toMatchObject({ status: 'failed', status_reason: 'out_of_tokens' })
  expect(requests).toHaveLength(3)
})

test('a budget pauses the run, and a resume with a larger one continues it', async () => {
  await using app = await startCodingApp((_request, n) =>
    n < 4 ? calls(shell(`echo ${n} >> steps.txt`)) : { text: 'four steps' },
  )
  const { id } = await createRun(app, { prompt: 'count', budget: { max_steps: 2 } })
  const paused = await awaitRun(app, id, run => run.status === 'paused')
  expect(paused).toMatchObject({
    status_reason: 'budget',
    terminal: false,
    error: { code: 'budget' },
    deadline_at: null,
  })
  const resumed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'go on',
    budget: { max_steps: 20 },
  })
  expect(resumed.body).toMatchObject({ status: 'queued', turn: 1, budget: { max_steps: 20 } })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', result: 'four steps' })
  expect(app.git('show', `${run.branch}:steps.txt`)).toBe('0\n1\n2\n3\n')
})

test('a time limit ends the running command, and a resume restarts its clock', async () => {
  await using app = await startCodingApp(responses(calls(shell('sleep 12345')), { text: 'at last' }))
  const { id } = await createRun(app, { prompt: 'sleep', budget: { max_wall_seconds: 1 } })
  const paused = await awaitRun(app, id, run => run.status === 'paused')
  expect(paused).toMatchObject({
    status_reason: 'budget',
    error: { message: expect.stringContaining('max_wall_seconds') },
  })
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    tool_name: 'shell',
    tool_output: { status: 'interrupted' },
  })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'go on',
    budget: { max_wall_seconds: 60 },
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'at last' })
})

test('NUL and invalid characters in the output of a model become text with markers, and the pull request is opened', async () => {
  const script = responses(
    calls({ name: 'sh\u0000ell', arguments: { command: 'true' } }, shell('echo x > x.txt')),
    calls({ name: 'finish', arguments: { answer: 'do\u0000ne \ud800' } }),
  )
  const { run, errors } = await play(script)
  expect(run).toMatchObject({
    ...ACCEPTED,
    result: 'do\ufffdne \ufffd',
    github_pull_requests: [{ number: 1 }],
  })
  expect(errors).toMatchObject([{ code: 'unknown_tool' }])
})

test('a response of plain text with NUL is stored', async () => {
  const { run } = await play(responses(calls(shell('echo x > x.txt')), { text: 'a\u0000b' }))
  expect(run).toMatchObject({ ...ACCEPTED, result: 'a\ufffdb' })
})
