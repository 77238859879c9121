// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of a configuration, not of JavaScript
import { expect, test } from 'vitest'
import { type McpServerInput, mcpServerSettings } from '../contract/organizations/mcp-servers.ts'
import { serversOfRun } from './run-servers.ts'

const server = (name: string, repository_id: number | null, input: McpServerInput) => ({
  name,
  repository_id,
  credential: null,
  sign_in: null,
  settings: mcpServerSettings(input),
})
const file = (mcpServers: object) => JSON.stringify({ mcpServers })

test('a server of the repository replaces that of the organization, also to turn it off; .mcp.json replaces none', () => {
  const configured = [
    server('a', 1, { command: 'of-repository' }),
    server('a', null, { command: 'of-organization' }),
    server('b', null, { command: 'b' }),
    server('b', 1, { command: 'b', enabled: false }),
    server('c', null, { command: 'c' }),
  ]
  const { servers, problems } = serversOfRun(
    configured,
    file({ c: { command: 'evil' }, d: { command: 'd' } }),
    {},
  )
  expect(servers).toMatchObject([
    { name: 'a', source: 'repository', target: { program: { command: 'of-repository' } } },
    { name: 'c', source: 'organization', target: { program: { command: 'c' } } },
    { name: 'd', source: '.mcp.json', target: { program: { command: 'd' } } },
  ])
  expect(problems).toEqual([
    { name: '.mcp.json', problem: 'c is left out: a configured server has its name.' },
  ])
})

test('references are replaced by the secrets of agents and by nothing else', () => {
  const variables = { TOKEN: 'value-of-token' }
  const { servers, problems } = serversOfRun(
    [
      server('a', null, {
        command: 'a',
        args: ['--key=${TOKEN}', '${OTHER:-none}', '$TOKEN'],
        environment: { KEY: '${TOKEN}' },
      }),
      server('b', null, { url: 'https://b.example/${TOKEN}', headers: { 'X-Key': '${HOME}' } }),
      server('c', null, { url: 'https://c.example', headers: { 'X-Key': '${constructor}' } }),
    ],
    null,
    variables,
  )
  expect(servers).toMatchObject([
    {
      name: 'a',
      target: {
        program: { args: ['--key=value-of-token', 'none', '$TOKEN'], environment: { KEY: 'value-of-token' } },
      },
    },
  ])
  expect(problems.map(({ name, problem }) => [name, problem])).toEqual([
    ['b', 'It refers to HOME, and agents of this run receive no secret of that name.'],
    ['c', 'It refers to constructor, and agents of this run receive no secret of that name.'],
  ])
})
