import { readFileSync } from 'node:fs'
import type { Body, Result } from '../../../../contract/calls.ts'
import { parseJson } from '../../../../core/json/parse-json.ts'
import { command, type Given, type Options } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'

const options = {
  repo: { type: 'string', value: 'ID|NAME', about: 'of this repository; by default of the organization' },
} as const satisfies Options

type Input = Body<'setMcpServer'>
const LINE_CHARS = 100

export const mcpServers = command({
  name: 'mcp-servers',
  summary: 'list, set, sign in to or delete the MCP servers whose tools agents get',
  usage: ['[list]', 'set NAME FILE', 'sign-in NAME', 'delete NAME'],
  words: [0, 3],
  choices: ['list', 'set', 'sign-in', 'delete'],
  options,
  notes: [
    'FILE has the settings as JSON, as the API takes them: {"command": "npx", "args": ["-y", "server"]} or {"url": "https://…", "credential": "…"}; - reads standard input.',
    'sign-in prints the page to open in a browser, for a server with {"sign_in": {…}}. The browser must be signed in to the service as you, or as another person who may set the server.',
  ],
  async run(given) {
    const [action = 'list', server, file, ...rest] = given.words
    const needed = action === 'set' ? 2 : action === 'list' ? 0 : 1
    if (given.words.length > 0 && (given.words.length - 1 !== needed || rest.length > 0))
      throw new UsageError(
        `agentrun mcp-servers ${action} takes ${['nothing else', 'the name of a server', 'the name of a server and a file'][needed]}`,
      )
    if (action === 'list' || server === undefined) return list(given)
    if (action === 'sign-in') return signIn(given, server)
    const done = action === 'set' ? await set(given, server, readInput(file ?? '-')) : await remove(given, server)
    if (given.json) given.print.json(done)
    else given.print.line(`${action === 'set' ? 'set' : 'deleted'}: ${done.name}`)
    return 0
  },
})

type Of = Given<typeof options>
const repositoryOf = async ({ values, client, signal }: Of) =>
  values.repo === undefined ? null : repositoryId(client(), values.repo, signal)

/** The service checks the fields. */
function readInput(file: string): Input {
  const value = parseJson('setting', readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Input
  throw new UsageError(`${file === '-' ? 'standard input' : file} is not a JSON object`)
}

async function set(given: Of, server: string, body: Input): Promise<Result<'setMcpServer'>> {
  const { client, signal } = given
  const repo_id = await repositoryOf(given)
  return repo_id === null
    ? client().call('setMcpServer', { params: { server }, body, repeatable: true, signal })
    : client().call('setRepositoryMcpServer', { params: { repo_id, server }, body, repeatable: true, signal })
}

async function remove(given: Of, server: string): Promise<Result<'setMcpServer'>> {
  const { client, signal } = given
  const repo_id = await repositoryOf(given)
  return repo_id === null
    ? client().call('deleteMcpServer', { params: { server }, signal })
    : client().call('deleteRepositoryMcpServer', { params: { repo_id, server }, signal })
}

/** Prints the page where a person allows the access. */
async function signIn(given: Of, server: string): Promise<number> {
  const { client, json, print, signal } = given
  const repo_id = await repositoryOf(given)
  const begun =
    repo_id === null
      ? await client().call('startMcpSignIn', { params: { server }, signal })
      : await client().call('startRepositoryMcpSignIn', { params: { repo_id, server }, signal })
  if (json) print.json(begun)
  else print.line(begun.authorization_url)
  print.note('Open it in a browser that is signed in to the service as you, or as another person who may set this server.')
  return 0
}

async function list(given: Of): Promise<number> {
  const { client, json, print, signal } = given
  const repo_id = await repositoryOf(given)
  const page =
    repo_id === null
      ? await client().call('listMcpServers', { signal })
      : await client().call('listRepositoryMcpServers', { params: { repo_id }, signal })
  if (json) print.json(page)
  else if (page.items.length === 0) print.line('no MCP servers')
  else {
    const rows = page.items.map(({ name, enabled, url, command: program, args, sign_in_state }) => [
      ...[
        name,
        enabled ? (sign_in_state?.status.replace('_', ' ') ?? 'enabled') : 'disabled',
        firstLine(url ?? [program, ...args].join(' '), LINE_CHARS),
      ],
    ])
    for (const line of columns([['NAME', 'STATE', 'SERVER'], ...rows])) print.line(line)
  }
  return 0
}
