// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeScript } from '../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type CodingApp, finish } from '../runs/coding-app.ts'
import { startProgramApp } from './program-app.ts'

/** A program of this test as an agent: it does what the prompt requests, well or badly. */
let app: CodingApp
let reply: FakeScript = () => ({ text: 'Hello.' })
beforeAll(async () => {
  app = await startProgramApp((request, n) => reply(request, n))
})
afterAll(() => app[Symbol.asyncDispose]())

/** Runs the steps, and returns the run at its end with its trace. */
async function perform(steps: string, more: object = {}): Promise<{ run: any; logs: any[] }> {
  const { id } = await createRun(app, { prompt: `do: ${steps}`, agent_type: 'program', ...more })
  const run = await awaitEnd(app, id)
  return { run, logs: await allLogs(app, id) }
}
const completed = (result: string) => ({ status: 'completed', result })

test('the last message is the answer, a tool becomes one ACTION with the message before it, and a plan is shown', async () => {
  const { run, logs } = await perform('plan Say it | say I look. | tool echo hi | unknown | say Done.')
  expect(run).toMatchObject(completed('Done.'))
  const { seq } = logs.find(entry => entry.tool_name === 'bash')
  const images = await app.call(
    'GET',
    `/v1/organizations/${app.org_id}/agent/run/${run.id}/images?seq=${seq}`,
  )
  expect(images).toMatchObject({ status: 200, body: { images: [] } })
  expect(logs.find(entry => entry.message_type === 'PLAN_EVALUATION')?.observation).toEqual({
    plan: [{ id: 1, text: 'Say it', state: 'in_progress' }],
  })
  expect(logs.filter(entry => entry.tool_name === 'bash')).toMatchObject([
    {
      message_type: 'ACTION',
      thought: 'I look.',
      tool_input: { command: 'echo hi' },
      tool_output: { output: 'hi\n', status: 'ok' },
    },
  ])
})

test('secrets that equal words of the protocol or of a change decide nothing: the trace and the diff are as without them', async () => {
  const words = [
    'sessionUpdate',
    'tool_call_update',
    'rawOutput',
    'finish_reason',
    'modified',
    'patch_truncated',
  ]
  const path = (n: number) => `/v1/organizations/${app.org_id}/secrets/WORD_${n}`
  for (const [n, value] of words.entries())
    expect((await app.call('PUT', path(n), { value })).status).toBe(200)
  try {
    const { run, logs } = await perform('plan Say it | tool echo hi; echo more >> README.md | say Done.')
    expect(run).toMatchObject(completed('Done.'))
    expect(logs.find(entry => entry.message_type === 'PLAN_EVALUATION')?.observation).toEqual({
      plan: [{ id: 1, text: 'Say it', state: 'in_progress' }],
    })
    expect(logs.filter(entry => entry.tool_name === 'bash')).toMatchObject([
      { message_type: 'ACTION', tool_output: { output: 'hi\n', status: 'ok' } },
    ])
    const diff = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}/diff`)
    expect(diff.body).toMatchObject({
      patch_truncated: false,
      files: [{ path: 'README.md', status: 'modified' }],
    })
  } finally {
    for (const n of words.keys()) await app.call('DELETE', path(n))
  }
})

test('a permission is given for one call', async () => {
  expect((await perform('permission')).run).toMatchObject(
    completed('[{"outcome":"selected","optionId":"once"}]'),
  )
})

test.each([
  ['exit 7', 'It ended with exit code 7'],
  ['permission and exit', 'It ended with exit code 1'],
  ['print garbage', 'It prints text that is not a message of the protocol, for example: "garbage"'],
  ['stop refusal', 'The agent stopped its turn: refusal'],
  ['requests and read nothing', 'It sends requests and reads no responses.'],
  ['permission options 200000', 'A message has more than 50000 values.'],
])('the run fails with the reason: %s', async (steps, message) => {
  const { run } = await perform(`say Before. | ${steps}`)
  expect(run).toMatchObject({ status: 'failed', status_reason: 'agent_error' })
  expect(run.error.message).toContain(message)
})

test.each([
  ['exit with a token', 'It ended with exit code 3. Its last output:'],
  ['stop with a token', 'The agent stopped its turn: y y '],
  ['call', 'z z '],
])('no part of a secret is in the error of a run, wherever it is shortened: %s', async (steps, message) => {
  // A provider may repeat the request: the first 500 characters end within the token.
  reply = () => ({ status: 400, body: `${'z '.repeat(246)}ghp_${'Ab3'.repeat(12)}` })
  const { run, logs } = await perform(steps)
  reply = () => ({ text: 'Hello.' })
  expect(run.error.message).toContain(message)
  expect(JSON.stringify([run, logs])).not.toContain('ghp_A')
})

test('a call that only its request for a permission describes has its name and its input', async () => {
  const { run, logs } = await perform('permission touch a | say Done.')
  expect(run).toMatchObject({ status: 'completed' })
  expect(logs.find(entry => entry.tool_name === 'execute')).toMatchObject({
    tool_name: 'execute',
    tool_input: { title: 'touch a', command: 'touch a' },
    tool_output: { status: 'ok' },
  })
})

test('a request for a permission with many wrong parts gets a short error', async () => {
  expect((await perform('tool true | permission options 49000 | say Done.')).run).toMatchObject(
    completed('[-32602 true]Done.'),
  )
})

test('a request to the model with too many values is refused by its bound', async () => {
  const { run } = await perform('call values 1000000 | say Done.')
  expect(run).toMatchObject({ status: 'failed', error: { message: 'The body has more than 100000 values.' } })
})

test('a response with a wrong id and 100 MB of updates do no harm, and the answer is bounded', async () => {
  const { run } = await perform('wrong ids | flood 100 | tool true | say Done.')
  expect(run).toMatchObject(completed('Done.'))
}, 60_000)

test.each([
  ['fs/read_text_file', { sessionId: 's', path: '/etc/passwd' }],
  ['fs/write_text_file', { sessionId: 's', path: '/tmp/written', content: 'x' }],
  ['terminal/create', { sessionId: 's', command: 'touch', args: ['/tmp/written'] }],
  ['elicitation/create', { sessionId: 's', message: 'Your password?' }],
  ['session/prompt', { sessionId: 's', prompt: [] }],
])(
  'the service does nothing for an agent outside of its sandbox: %s is not a method of it',
  async (method, params) => {
    const { run } = await perform(`call | client request ${method} ${JSON.stringify(params)} | say Done.`)
    expect(run).toMatchObject(completed('[200][-32601]Done.'))
  },
)

test('an agent cannot change its own programs, nor anything of the machine', async () => {
  const own = '/opt/agents/program/program.mjs'
  const attempts = `echo x >>${own}; rm -f ${own}; mv /opt/agents/program /tmp/other; touch /usr/bin/x /etc/x; test -s ${own} && echo whole`
  const { run, logs } = await perform(`tool ${attempts} | say Done.`)
  expect(run).toMatchObject(completed('Done.'))
  expect(logs.find(({ tool_name }) => tool_name === 'bash').tool_output.output).toBe('whole\n')
  expect((await perform('call | say Again.')).run).toMatchObject(completed('[200]Again.'))
})

test('a program that does not exist fails the run with its output', async () => {
  const { id } = await createRun(app, { prompt: 'x', agent_type: 'missing' })
  expect((await awaitEnd(app, id)).error.message).toMatch(
    /missing: It ended with exit code 127\. Its last output: .*No such file/,
  )
})

test('the gateway sends a call with the key of the service, and nothing of the headers of the program', async () => {
  const before = app.model.requests.length
  expect((await perform('call headers')).run).toMatchObject(completed('[200]'))
  const [request] = app.model.requests.slice(before)
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer key-of-the-model-server',
    host: new URL(app.model.origin).host,
  })
  expect(request?.headers).not.toHaveProperty('x-forwarded-host')
})

test.each([
  ['call model gpt-99', 404],
  ['call path /v1/files', 404],
  ['call path /v1/messages', 404],
  ['call text {"model":', 400],
  ['call text [1]', 400],
  ['call bytes 50000000', 413],
])(
  'the gateway refuses %s with %i, and no request reaches the provider; a later call that succeeds is enough',
  async (steps, status) => {
    const before = app.model.requests.length
    const { run } = await perform(`${steps} | call | say after`)
    expect({ status: run.status, error: run.error }).toEqual({ status: 'completed', error: null })
    expect(run.result).toBe(`[${status}][200]after`)
    expect(app.model.requests).toHaveLength(before + 1)
  },
)

test('a tool that runs at the provider is not offered to the model, which the trace shows once; a request that forces it is refused', async () => {
  const before = app.model.requests.length
  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }, { type: 'web_search' }]
  const listing = JSON.stringify({ model: 'fake', stream: true, messages: [], tools })
  const forcing = JSON.stringify({ model: 'fake', messages: [], tools, tool_choice: { type: 'web_search' } })
  const { run, logs } = await perform(`call text ${forcing} | call text ${listing} | call text ${listing}`)
  expect(run).toMatchObject(completed('[400][200][200]'))
  expect(app.model.requests.slice(before).map(({ body }) => body.tools)).toEqual([[tools[0]], [tools[0]]])
  const notices = logs.filter(entry => entry.observation?.code === 'provider_tools_dropped')
  expect(notices).toMatchObject([
    { message_type: 'ERROR', observation: { message: expect.stringContaining('web_search') } },
  ])
})

test('the gateway is not a proxy: a request that names another host, in whatever form, reaches none', async () => {
  const before = app.model.requests.length
  const end = 'Connection: close\\r\\n\\r\\n'
  const raw = (text: string) => `r '${text}\\r\\n${end}'`
  const attempts = [
    raw('CONNECT 169.254.169.254:80 HTTP/1.1\\r\\nHost: x'),
    raw('GET http://169.254.169.254/v1/models HTTP/1.1\\r\\nHost: x'),
    raw('POST http://169.254.169.254/v1/chat/completions HTTP/1.1\\r\\nHost: x'),
    raw(
      'POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\nTransfer-Encoding: chunked',
    ),
    // The one model of the run, whatever the host.
    raw('GET /v1/models HTTP/1.1\\r\\nHost: 169.254.169.254'),
  ]
  const open =
    'r() { exec 3<>/dev/tcp/127.0.0.1/3129; printf "$1" >&3; echo "$(timeout 5 head -n 1 <&3)"; exec 3>&-; }'
  const { run, logs } = await perform(`tool ${[open, ...attempts].join('; ')} | call | say Done.`)
  expect(run).toMatchObject(completed('[200]Done.'))
  const lines: string[] = logs
    .find(({ tool_name }) => tool_name === 'bash')
    .tool_output.output.replaceAll('\r', '')
    .trimEnd()
    .split('\n')
  expect(lines.map(line => line.slice(0, 12))).toEqual([
    '',
    'HTTP/1.1 404',
    'HTTP/1.1 404',
    'HTTP/1.1 400',
    'HTTP/1.1 200',
  ])
  expect(app.model.requests).toHaveLength(before + 1)
})

test('the requests of a program that wait for each other are limited', async () => {
  const refusals = Promise.withResolvers<void>()
  reply = async () => {
    await refusals.promise
    return { text: 'Hello.' }
  }
  const { id } = await createRun(app, { prompt: 'do: call at once 60', agent_type: 'program' })
  await expect
    .poll(async () => (await allLogs(app, id)).filter(({ tool_name }) => tool_name === 'refused').length, {
      timeout: 30_000,
    })
    .toBe(1)
  refusals.resolve()
  reply = () => ({ text: 'Hello.' })
  expect((await awaitEnd(app, id)).result).toBe('[32 sent, 28 refused]')
})

test('a response that breaks off is charged, breaks off for the program too, and leaves the gateway usable', async () => {
  let n = 0
  reply = () =>
    n++ === 0
      ? { raw: ['data: {"choices":[{"index":0,"delta":{"content":"Hel'], after: 'cut' }
      : { text: 'Hello.' }
  const { run } = await perform('call cut | call')
  reply = () => ({ text: 'Hello.' })
  expect(run).toMatchObject(completed('[cut][200]'))
  expect(run.usage.output_tokens).toBeGreaterThan(1_000)
  expect(run.usage.estimated_calls).toBe(1)
})

test('a call without usage is estimated and marked in the run and in the usage, of a program as of the built-in agent', async () => {
  const path = `/v1/organizations/${app.org_id}/usage`
  const before = (await app.call('GET', path)).body.total.estimated_calls
  reply = () => ({ ...finish('Hello.'), usage: null })
  const runs = [(await perform('call')).run, await awaitEnd(app, (await createRun(app, { prompt: 'Hi' })).id)]
  reply = () => finish('Hello.')
  runs.push((await perform('call')).run, await awaitEnd(app, (await createRun(app, { prompt: 'Hi' })).id))
  reply = () => ({ text: 'Hello.' })
  expect(runs.map(({ usage }) => usage.estimated_calls)).toEqual([1, 1, 0, 0])
  for (const { usage } of runs) expect(usage.input_tokens * usage.output_tokens).toBeGreaterThan(0)
  expect((await app.call('GET', path)).body.total.estimated_calls).toBe(before + 2)
})

test('a program that leaves a call has it charged, and its next call is sent', async () => {
  reply = (_request, n) =>
    n === app.model.requests.length - 1 && stalled-- > 0 ? { stall: 'before_body' } : { text: 'Hello.' }
  let stalled = 1
  const { run } = await perform('call leave | call')
  reply = () => ({ text: 'Hello.' })
  expect(run).toMatchObject(completed('[200]'))
})

test('a refusal of the provider reaches the program with its status, and a wrong key fails the run as such', async () => {
  reply = () => ({
    status: 401,
    body: { error: { message: 'Incorrect API key provided: key-of-the-model-server' } },
  })
  const { run, logs } = await perform('call | exit 1')
  reply = () => ({ text: 'Hello.' })
  expect(run).toMatchObject({ status: 'failed', status_reason: 'model_auth' })
  expect(JSON.stringify([run, logs])).not.toContain('key-of-the-model-server')
})

const resume = (agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, ...more })
const started = (id: number) =>
  app.db
    .query({ text: "select 1 from journal where run_id = $1 and kind = 'tool_started'", values: [id] })
    .then(({ rows }) => rows.length)

test('a step limit pauses the run before the next call, and a resume with more continues', async () => {
  const before = app.model.requests.length
  const { id } = await createRun(app, {
    prompt: 'do: call | call | call | say Done.',
    agent_type: 'program',
    budget: { max_steps: 2 },
  })
  const paused = await awaitRun(app, id, run => run.status === 'paused')
  expect(paused).toMatchObject({ status_reason: 'budget', usage: { input_tokens: 200 } })
  expect(app.model.requests).toHaveLength(before + 2)
  expect(await resume(id, { prompt: 'do: call | say Continued.', budget: { max_steps: 3 } })).toMatchObject({
    status: 200,
  })
  expect(await awaitEnd(app, id)).toMatchObject(completed('[200]Continued.'))
})

test('an interrupting message cancels the prompt, and the agent gets the message in the same session', async () => {
  const { id } = await createRun(app, { prompt: 'do: tool sleep 600', agent_type: 'program' })
  await expect.poll(() => started(id), { timeout: 20_000 }).toBe(1)
  expect(await resume(id, { prompt: 'do: say Got it.', mode: 'interrupt' })).toMatchObject({ status: 200 })
  expect(await awaitEnd(app, id)).toMatchObject(completed('Got it.'))
  const tools = (await allLogs(app, id)).filter(entry => entry.tool_name === 'bash')
  expect(tools).toMatchObject([{ tool_output: { status: 'interrupted' } }])
})

test('a stop ends the agent in the middle of a command', async () => {
  const { id } = await createRun(app, { prompt: 'do: tool sleep 600', agent_type: 'program' })
  await expect.poll(() => started(id), { timeout: 20_000 }).toBe(1)
  expect(
    (await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })).status,
  ).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
})
