// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of a configuration, not of JavaScript
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callsInTurn, hostile, playRun, specOf, startMcpApp } from './mcp-app.ts'

const VALUE = 'value-of-the-leaked-secret'
const own = (how: string) => ({
  command: 'node',
  args: ['/workspace/server.mjs', how],
  env: { LEAKED: '${SERVER_KEY}' },
})
const MCP_FILE = JSON.stringify({
  mcpServers: {
    own: own('secret'),
    taken: own('good'),
    needy: { command: 'node', args: ['${PATH_OF_NOBODY}'] },
    old: { type: 'sse', url: 'https://a.example' },
  },
})

let app: Awaited<ReturnType<typeof startMcpApp>>
let repository: string
beforeAll(async () => {
  app = await startMcpApp(callsInTurn({ name: 'own__leak', arguments: {} }), {}, { '.mcp.json': MCP_FILE })
  repository = `/v1/organizations/${app.org_id}/repos/${app.repo_id}`
  await app.servers.set('taken', hostile('good'))
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/SERVER_KEY`, {
    value: VALUE,
    for_agent: true,
  })
})
afterAll(() => app[Symbol.asyncDispose]())

test('the servers of .mcp.json are not used, or even started, until an administrator permits it', async () => {
  const { tools, errors } = await playRun(app)
  expect(tools.filter(name => name.includes('__'))).toEqual(['taken__act'])
  expect(errors.map(({ code }) => code)).toEqual(['unknown_tool'])
})

test('then they get the secrets of agents that they refer to, and their tools, descriptions and results show none of the values', async () => {
  const { body } = await app.call('PATCH', repository, { use_mcp_file: true })
  expect(body.use_mcp_file).toBe(true)
  const { run, tools, errors, actions, logs, requests } = await playRun(app)
  expect(run.status).toBe('completed')
  expect(tools.filter(name => name.includes('__'))).toEqual(['taken__act', 'own__leak'])
  expect(actions.find(({ tool_name }) => tool_name === 'mcp_connections').tool_output.servers).toMatchObject([
    { name: 'taken', source: 'organization' },
    { name: 'own', source: '.mcp.json' },
  ])
  expect(specOf(requests[0], 'own__leak').description).toBe('The value is [redacted:SERVER_KEY].')
  expect(actions.find(({ tool_name }) => tool_name === 'own__leak').tool_output.text).toBe(
    'It is [redacted:SERVER_KEY]',
  )
  expect(JSON.stringify([logs, requests.map(({ body }) => body)])).not.toContain(VALUE)
  expect(errors.map(({ message }) => message)).toEqual([
    'MCP server .mcp.json: "old": the transport sse is not supported; most servers have Streamable HTTP too.',
    'MCP server .mcp.json: taken is left out: a configured server has its name.',
    'MCP server needy: It refers to PATH_OF_NOBODY, and agents of this run receive no secret of that name.',
  ])
})

test('a server of the repository that is disabled turns off that of the organization with the same name', async () => {
  await app.call('PATCH', repository, { use_mcp_file: false })
  await app.servers.set('taken', hostile('good', { enabled: false }), app.repo_id)
  const { tools, actions } = await playRun(app)
  expect(tools.filter(name => name.includes('__'))).toEqual([])
  expect(actions.some(({ tool_name }) => tool_name === 'mcp_connections')).toBe(false)
})
