import { readFileSync } from 'node:fs'
import type { MissingPermission } from '../../../../contract/repositories/forges.ts'
import type { Result } from '../../../sdk/operations.ts'
import { type CommandArguments, command, type Options, printResult, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { list, pageOptions, table } from '../../resource.ts'

const actions = ['list', 'connect', 'app', 'disconnect', 'repositories'] as const
const options = {
  gitea: {
    type: 'boolean',
    actions: ['connect', 'disconnect', 'repositories'],
    about: 'URL is a Gitea or Forgejo server, including its path',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    actions: ['connect'],
    about: 'file that contains the token; - reads standard input',
  },
  app: { type: 'string', value: 'ID', actions: ['connect'], about: 'as the GitHub App with this id' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    actions: ['connect'],
    about: 'file that contains a private key of the app',
  },
  installation: {
    type: 'string',
    value: 'ID',
    actions: ['connect'],
    about: 'only this installation of the app',
  },
  'secret-file': {
    type: 'string',
    value: 'FILE',
    actions: ['connect'],
    about: 'secret of the webhooks; by default one is generated',
  },
  owner: {
    type: 'string',
    value: 'NAME',
    actions: ['app'],
    about: 'organization on GitHub that owns the app; by default the signed-in user',
  },
  name: {
    type: 'string',
    value: 'NAME',
    actions: ['app'],
    about: 'name of the app on GitHub, agentrun by default',
  },
  ...pageOptions(['repositories']),
} as const satisfies Options

type Connection = Result<'connectGitHub'>

export const integrations = command({
  name: 'integrations',
  summary: 'connect GitHub, GitHub Enterprise Server, Gitea or Forgejo, and list connections',
  usage: ['[list]', 'connect [URL]', 'app [URL]', 'disconnect [URL]', 'repositories [URL]'],
  words: [0, 2],
  choices: actions,
  options,
  notes: [
    'URL is https://github.com by default. connect exits with 1 when the forge rejects the credentials.',
    'app prints an address to open in a browser within an hour: it creates a GitHub App and connects it.',
  ],
  async run(given) {
    const [action = 'list', url] = given.words
    if (action === 'list') return listConnections(given, url)
    if (action === 'repositories')
      return (given.values.gitea ? giteaRepositories : gitHubRepositories)(url).run(given)
    if (action === 'app') return createApp(given, url)
    const { client, signal, values } = given
    const connection =
      action === 'connect'
        ? await connect(given, url)
        : values.gitea
          ? await client().call('disconnectGitea', { query: { url: needed(url) }, repeatable: true, signal })
          : await client().call('disconnectGitHub', {
              query: url === undefined ? {} : { url },
              repeatable: true,
              signal,
            })
    printResult(given, connection, () =>
      action === 'disconnect' ? [`disconnected ${plainText(connection.url)}`] : linesOf(connection),
    )
    return action === 'connect' && !connection.active ? 1 : 0
  },
})

const read = (file: string) => readFileSync(file === '-' ? 0 : file, 'utf8').trim()

function needed(url: string | undefined): string {
  if (url === undefined) throw new UsageError('agentrun integrations takes the URL of the Gitea server')
  return url
}

async function connect(
  { values, client, signal }: CommandArguments<typeof options>,
  url: string | undefined,
): Promise<Connection> {
  const { app, 'token-file': token_file, 'key-file': key_file, 'secret-file': secret_file } = values
  if ((token_file === undefined) === (app === undefined))
    throw new UsageError('agentrun integrations connect takes --token-file or --app')
  if ((app === undefined) !== (key_file === undefined))
    throw new UsageError('--app and --key-file go together')
  const webhook_secret = secret_file === undefined ? {} : { webhook_secret: read(secret_file) }
  if (values.gitea) {
    if (token_file === undefined) throw new UsageError('connect Gitea with --token-file')
    const body = { url: needed(url), token: read(token_file), ...webhook_secret }
    return client().call('connectGitea', { body, repeatable: true, signal })
  }
  const body = {
    ...(url !== undefined && { url }),
    ...(token_file !== undefined && { token: read(token_file) }),
    ...(app !== undefined &&
      key_file !== undefined && {
        app: {
          app_id: whole('--app', app),
          private_key: read(key_file),
          installation_id: whole('--installation', values.installation),
        },
      }),
    ...webhook_secret,
  }
  return client().call('connectGitHub', { body, repeatable: true, signal })
}

async function createApp(
  { values, client, json, print, signal }: CommandArguments<typeof options>,
  url: string | undefined,
): Promise<number> {
  if (values.gitea) throw new UsageError('Gitea has no apps')
  const body = {
    ...(url !== undefined && { url }),
    owner: values.owner,
    ...(values.name !== undefined && { name: values.name }),
  }
  const started = await client().call('createGitHubApp', { body, signal })
  printResult({ json, print }, started, () => [started.open_url])
  print.note('Open it in a browser that is signed in to the service as you, or as another ADMIN.')
  return 0
}

function linesOf({ url, login, active, problem, webhook_url, webhook_secret }: Connection): string[] {
  return [
    `connected  ${plainText(url)}${login === null ? '' : ` as ${plainText(login)}`}`,
    `state      ${active ? 'works' : `does not work: ${plainText(problem ?? '')}`}`,
    `webhooks   ${plainText(webhook_url)}`,
    ...(webhook_secret === null ? [] : [`secret     ${plainText(webhook_secret)}   (shown only once)`]),
  ]
}

const missingIn = (metadata: Record<string, unknown> | null) =>
  (metadata?.missing_permissions ?? []) as MissingPermission[]

const connectionTable = table<Result<'listIntegrations'>['integrations'][number]>({
  KIND: one => one.integration_type,
  URL: ({ metadata }) => String(metadata?.url ?? ''),
  AS: ({ metadata }) => String(metadata?.login ?? ''),
  STATE: ({ active, metadata }) => {
    if (!active) return String(metadata?.problem ?? '')
    return missingIn(metadata).length === 0 ? 'works' : 'works, permissions are missing'
  },
})

async function listConnections(
  { client, json, print, signal }: CommandArguments<typeof options>,
  url: string | undefined,
): Promise<number> {
  if (url !== undefined) throw new UsageError('agentrun integrations list takes nothing else')
  const found = await client().call('listIntegrations', { signal })
  if (json) {
    print.json(found)
    return 0
  }
  if (found.integrations.length === 0) print.line('nothing is connected')
  else for (const line of connectionTable(found.integrations, print)) print.line(line)
  for (const { metadata } of found.integrations)
    for (const { problem, fix } of missingIn(metadata))
      print.note(`${plainText(String(metadata?.url))}: ${problem} ${fix}`)
  return 0
}

const repositoryTable = table<Result<'listGitHubRepositories'>['items'][number]>({
  NAME: one => one.full_name,
  URL: one => one.url,
  '': one => (one.repo_id === null ? '' : `repository ${one.repo_id}`),
})

const gitHubRepositories = (url: string | undefined) =>
  list({
    operation: 'listGitHubRepositories',
    query: () => (url === undefined ? {} : { url }),
    noun: 'repositories',
    lines: repositoryTable,
  })

const giteaRepositories = (url: string | undefined) =>
  list({
    operation: 'listGiteaRepositories',
    query: () => ({ url: needed(url) }),
    noun: 'repositories',
    lines: repositoryTable,
  })
