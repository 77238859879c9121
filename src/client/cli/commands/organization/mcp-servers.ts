import { readFileSync } from 'node:fs'
import { parseJson } from '../../../../core/json/parse-json.ts'
import type { Body } from '../../../sdk/operations.ts'
import { UsageError } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import { list, of_repository, plainTable, resource, single } from '../../resource.ts'

const LINE_CHARS = 100

export const mcpServers = resource({
  name: 'mcp-servers',
  summary: 'list, set, sign in to or delete the MCP servers whose tools agents get',
  usage: ['[list]', 'set NAME FILE', 'sign-in NAME', 'delete NAME'],
  words: [0, 3],
  exact: true,
  options: of_repository,
  notes: [
    'FILE has the settings as JSON, as the API takes them: {"command": "npx", "args": ["-y", "server"]} or {"url": "https://…", "credential": "…"}; - reads standard input.',
    'sign-in prints the page to open in a browser, for a server with {"sign_in": {…}}. The browser must be signed in to the service as you, or as another person who may set the server.',
  ],
  actions: {
    list: list({
      operation: 'listMcpServers',
      of_repository: 'listRepositoryMcpServers',
      lines: plainTable('no MCP servers', {
        NAME: one => one.name,
        STATE: one => (one.enabled ? (one.sign_in_state?.status.replace('_', ' ') ?? 'enabled') : 'disabled'),
        SERVER: one => firstLine(one.url ?? [one.command, ...one.args].join(' '), LINE_CHARS),
      }),
    }),
    set: single({
      takes: 'the name of a server and a file',
      words: [2, 2],
      operation: 'setMcpServer',
      of_repository: 'setRepositoryMcpServer',
      body: (_given, _name, file = '-') => readInput(file),
      lines: ({ name }) => [`set: ${name}`],
    }),
    'sign-in': single({
      operation: 'startMcpSignIn',
      of_repository: 'startRepositoryMcpSignIn',
      lines: ({ authorization_url }) => [authorization_url],
      note: 'Open it in a browser that is signed in to the service as you, or as another person who may set this server.',
    }),
    delete: single({
      operation: 'deleteMcpServer',
      of_repository: 'deleteRepositoryMcpServer',
      lines: ({ name }) => [`deleted: ${name}`],
    }),
  },
})

/** The service checks the fields. */
function readInput(file: string): Body<'setMcpServer'> {
  const value = parseJson('setting', readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Body<'setMcpServer'>
  throw new UsageError(`${file === '-' ? 'standard input' : file} is not a JSON object`)
}
