// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { serveMcp } from '../mcp-servers/http-server.ts'
import { hostile, playRun, startMcpApp } from '../mcp-servers/mcp-app.ts'
import { programEnv, programSettings } from './program-app.ts'

/** MCP servers of the organization, as an agent of another vendor gets them. */
let app: Awaited<ReturnType<typeof startMcpApp>>
beforeAll(async () => {
  app = await startMcpApp(() => ({ text: 'Hello.' }), { ...programEnv(), AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
})
afterAll(() => app[Symbol.asyncDispose]())
afterEach(async () => {
  await app.servers.remove('tickets')
  await app.servers.remove('odd')
})

const CREDENTIAL = 'credential-of-tickets'
const allow = async (of: typeof app, ...ports: number[]) => {
  const agent = { mode: 'allowlist', allow: ports.map(port => ({ host: 'localhost', port })), presets: [] }
  expect((await of.call('PUT', `/v1/organizations/${of.org_id}/egress`, { agent })).status).toBe(200)
}
const play = (steps: string, of = app) => playRun(of, { prompt: `do: ${steps}`, agent_type: 'program' })

test('an agent calls the tools of an address by the service, and its credential is in no sandbox and no trace', async () => {
  await using server = await serveMcp()
  await allow(app, server.port)
  await app.servers.set('tickets', { url: `${server.origin}/mcp`, credential: CREDENTIAL })
  const search = `echo "found:$(grep -rlaE '[c]redential-of-tickets' /home /tmp /run /etc /proc/[0-9]*/environ 2>/dev/null)"`
  const { run, logs, actions } = await play(
    `servers | mcp tickets search a bug | tool ${search} | mcp tickets headers`,
  )
  const address = { type: 'http', name: 'tickets', url: 'http://127.0.0.1:3129/mcp/tickets', headers: [] }
  expect(run).toMatchObject({
    status: 'completed',
    result: '[called with Bearer [redacted:AGENTRUN_MCP_CREDENTIAL_TICKETS]]',
  })
  expect(actions.find(({ tool_name }) => tool_name === 'bash')).toMatchObject({
    tool_output: { output: 'found:\n' },
    thought: `${JSON.stringify([address])}[found a bug]`,
  })
  expect(actions.find(({ tool_name }) => tool_name === 'tickets__search')).toMatchObject({
    tool_input: { text: 'a bug' },
    tool_output: { status: 'ok', text: 'found a bug' },
    observation: { server: 'tickets', tool: 'search' },
  })
  for (const { headers } of server.seen) expect(headers.authorization).toBe(`Bearer ${CREDENTIAL}`)
  expect(JSON.stringify(logs)).not.toContain(CREDENTIAL)
})

test('a tool that is not in the list of the server is not called', async () => {
  await using server = await serveMcp()
  await allow(app, server.port)
  await app.servers.set('tickets', { url: `${server.origin}/mcp`, tools: ['search'] })
  const { run, actions } = await play('call | mcp tickets headers x')
  expect(run.result).toBe('[200][There is no such tool.]')
  expect(actions.filter(({ tool_name }) => tool_name.startsWith('tickets__'))).toEqual([])
})

test('what an agent reports as the call of a served tool is not shown as one', async () => {
  await using server = await serveMcp()
  await allow(app, server.port)
  await app.servers.set('tickets', { url: `${server.origin}/mcp` })
  const { actions } = await play('titled tickets__search | titled mcp_connections | say !')
  expect(actions.map(({ tool_name }) => tool_name)).toEqual([
    'git_clone',
    'mcp_connections',
    'agent_tickets__search',
    'agent_mcp_connections',
  ])
})

test('a program runs in the sandbox, and its results are bounded as for the built-in agent', async () => {
  await app.servers.set('odd', hostile('long-text'))
  const { run, actions } = await play('mcp odd act hello | say !')
  expect(run.status).toBe('completed')
  expect(run.result.length).toBeLessThan(32_000)
  expect(actions.find(({ tool_name }) => tool_name === 'odd__act')).toMatchObject({
    tool_input: { text: 'hello' },
    truncated: true,
  })
})

test('a program that ends at a call is a failed call with an unknown outcome, and the run continues', async () => {
  await app.servers.set('odd', hostile('exit-call'))
  const { run, actions } = await play('mcp odd act hello')
  expect(run.result).toContain('It may or may not have taken effect')
  expect(actions.filter(({ tool_name }) => tool_name === 'odd__act')).toMatchObject([
    { tool_output: { status: 'error' } },
  ])
})

test('an address that no rule allows gets no request, and the agent has no server', async () => {
  await using server = await serveMcp()
  await allow(app, 1)
  await app.servers.set('tickets', { url: `${server.origin}/mcp`, credential: CREDENTIAL })
  const { run, errors } = await play('call | servers | mcp tickets search x')
  expect([run.status, run.result, server.seen]).toEqual(['completed', '[200][][404]', []])
  expect(errors[0].message).toContain(`no rule allows localhost:${server.port}`)
})

test('a message that is too large, and a server that the run does not have, are refused', async () => {
  await using server = await serveMcp()
  await allow(app, server.port)
  await app.servers.set('tickets', { url: `${server.origin}/mcp` })
  const { run } = await play(
    'mcp bytes 2000000 | mcp other search x | call path /mcp/../v1/models | mcp tickets search y',
  )
  expect(run.result).toBe('[413][404][404][found y]')
})

test('more programs than a sandbox can have at once are left out, and the agent starts', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `odd-${i + 1}`)
  for (const name of names) await app.servers.set(name, hostile('plain'))
  const { run, errors } = await play('mcp odd-7 act x | mcp odd-8 act x')
  for (const name of names) await app.servers.remove(name)
  expect(run).toMatchObject({ status: 'completed', result: '[called act with {"text":"x"}][404]' })
  expect(errors).toMatchObject([
    { message: 'MCP server odd-8: It is left out: a run has at most 7 servers that are programs.' },
  ])
})

test('an agent that accepts no servers by HTTP has none, which the trace shows', async () => {
  await using other = await startMcpApp(
    () => ({ text: 'Hello.' }),
    programEnv(programSettings({ NO_HTTP: '1' })),
  )
  await other.servers.set('odd', hostile('plain'))
  const { run, errors } = await play('call | servers', other)
  expect(run).toMatchObject({ status: 'completed', result: '[200][]' })
  expect(errors).toMatchObject([
    { code: 'mcp_server_failed', message: expect.stringContaining('does not accept servers by HTTP') },
  ])
})
