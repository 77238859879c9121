import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../runs/await-run.ts'
import { callsInTurn, hostile, playRun } from './mcp-app.ts'
import { programsApp } from './programs-app.ts'

const used = programsApp()

test.each([
  ['hang', 'It did not respond within 2 s.', { timeout_seconds: 2 }],
  ['hang-list', 'It did not respond within 2 s.', { timeout_seconds: 2 }],
  ['exit', 'It ended with exit code 7. Its last output: no license found', {}],
  ['unknown-revision', '1999-01-01', {}],
  ['print-garbage', 'It prints text that is not a message of the protocol, for example: "garbage"', {}],
])(
  'a program cannot be used: %s; the trace has the reason, and the run continues without its tools',
  async (how, message, more) => {
    const { tools, errors } = await used.play(how, { calls: 0, more })
    expect(tools.filter(name => name.includes('__'))).toEqual([])
    expect(errors).toEqual([
      expect.objectContaining({ code: 'mcp_server_failed', message: expect.stringContaining(message) }),
    ])
    expect(errors[0].message).toMatch(/^MCP server odd: /)
  },
)

test.each([
  ['hang-call', 'timeout', 'It did not respond within 2 s.', { timeout_seconds: 2 }],
  ['wrong-ids', 'timeout', 'It did not respond within 2 s.', { timeout_seconds: 2 }],
  ['exit-call', 'error', 'It ended with exit code 3.', {}],
  ['large-text', 'error', 'A message has more than 8388608 bytes.', {}],
  ['endless-garbage', 'error', 'It prints text that is not a message of the protocol', {}],
])('a call fails: %s; the agent learns that its outcome is unknown', async (how, status, message, more) => {
  const { results, errors } = await used.play(how, { more })
  expect(results[0]?.tool_output).toMatchObject({ status, error: expect.stringContaining(message) })
  expect(results[0]?.tool_output.error).toMatch(
    /It may or may not have taken effect: check before you repeat it\.$/,
  )
  expect(errors).toHaveLength(1)
})

test('a program that has ended is started again at the next call, a few times in a turn', async () => {
  const { results } = await used.play('exit-call', { calls: 6, text: 'x' })
  const errors = results.map(({ tool_output }) => tool_output.error)
  expect(errors.slice(0, 4).every(error => error.includes('exit code 3'))).toBe(true)
  expect(errors[4]).toContain('It has failed 4 times in this turn')
})

test('an error of a tool is a result, a refused call too, and neither is an error of the run', async () => {
  expect((await used.play('error')).results[0]?.tool_output).toEqual({
    status: 'error',
    error: 'No such ticket.',
  })
  const { results, errors } = await used.play('broken')
  expect(results[0]?.tool_output).toMatchObject({
    status: 'error',
    error: expect.stringContaining('It returned an invalid result'),
  })
  expect(errors).toEqual([])
})

test('garbage beside messages changes nothing', async () => {
  expect((await used.play('garbage')).results[0]?.tool_output).toEqual({
    status: 'ok',
    text: 'after garbage',
  })
})

test('a list of tools chooses, and names that the server has not are reported', async () => {
  await used.app.servers.set('odd', hostile('many', { tools: ['tool_7000', 'none'] }))
  used.script = callsInTurn()
  const { tools, actions } = await playRun(used.app)
  expect(tools.filter(name => name.startsWith('odd__'))).toEqual(['odd__tool_7000'])
  expect(
    actions.find(({ tool_name }) => tool_name === 'mcp_connections').tool_output.servers[0].left_out,
  ).toEqual(['none: they are in the list of tools, and the server has none of these names.'])
})

test('a long text is cut for the model and the trace, and its whole is kept', async () => {
  const { results } = await used.play('long-text')
  expect(results[0]).toMatchObject({ truncated: true, artifact_url: expect.stringContaining('/artifacts/') })
  expect(results[0].tool_output.text.length).toBeLessThan(140_000)
})

test('the images of a result are described, and sent to a model only if it accepts them', async () => {
  const { results, requests } = await used.play('image')
  expect(results[0]?.tool_output).toEqual({
    status: 'ok',
    text: [
      'A picture:',
      '[image image/gif, 24 bytes]',
      '[image image/tiff, 3 bytes: left out, because its format is not accepted]',
    ].join('\n'),
    note: expect.stringContaining('not known to accept images'),
  })
  expect(JSON.stringify(requests.at(-1)?.body)).not.toContain('base64,')
})

test.each(['hang', 'hang-call'])('a stop ends a run at once whose server hangs: %s', async how => {
  await used.app.servers.set('odd', hostile(how, { timeout_seconds: 3_600 }))
  used.script = callsInTurn({ name: 'odd__act', arguments: { text: 'x' } })
  const { id } = await createRun(used.app, { prompt: 'Work.' })
  await awaitRun(used.app, id, run => run.status === 'running')
  if (how === 'hang-call')
    for await (const { event, data } of followRun(used.app, id))
      if (event === 'tool' && data.tool_name === 'odd__act') break
  await used.app.call('POST', `/v1/organizations/${used.app.org_id}/agent/run/stop`, { agent_run_id: id })
  expect(await awaitEnd(used.app, id)).toMatchObject({ status: 'cancelled' })
  const [call] = (await allLogs(used.app, id)).filter(({ tool_name }) => tool_name === 'odd__act')
  if (how === 'hang-call')
    expect(call?.tool_output).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('may or may not'),
    })
})

test('a run whose server hangs at its start is paused at once, and continues when it is resumed', async () => {
  await used.app.servers.set('odd', hostile('hang', { timeout_seconds: 100 }))
  used.script = callsInTurn()
  const { id } = await createRun(used.app, { prompt: 'Work.' })
  await awaitRun(used.app, id, run => run.status === 'running')
  await used.app.call('POST', `/v1/organizations/${used.app.org_id}/agent/run/pause`, { agent_run_id: id })
  await awaitRun(used.app, id, run => run.status === 'paused')
  await used.app.servers.set('odd', hostile('good'))
  await used.app.call('POST', `/v1/organizations/${used.app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Go on.',
  })
  expect(await awaitEnd(used.app, id)).toMatchObject({ status: 'completed' })
  const connections = (await allLogs(used.app, id)).filter(({ tool_name }) => tool_name === 'mcp_connections')
  expect(connections.map(({ tool_output }) => tool_output.servers)).toMatchObject([
    [{ name: 'odd', tools: ['odd__act'] }],
  ])
})
