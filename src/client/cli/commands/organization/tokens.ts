import type { Body, Result } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'

type Token = Result<'listTokens'>['items'][number]

const options = {
  scope: {
    type: 'string',
    multiple: true,
    value: 'SCOPE',
    actions: ['create'],
    about: 'a scope; may be repeated; by default the scopes of your token',
  },
  repo: {
    type: 'string',
    multiple: true,
    value: 'ID|NAME',
    actions: ['create'],
    about: 'a repository that it is limited to; may be repeated',
  },
  'expires-in': { type: 'string', value: 'TIME', actions: ['create'], about: 'lifetime, like 90d, 12h or 30m' },
  user: { type: 'string', value: 'ID', actions: ['create'], about: 'the member or service user that it belongs to; by default you' },
  'wire-profile': {
    type: 'string',
    value: 'PROFILE',
    choices: ['standard', 'codegen'],
    actions: ['create'],
    about: 'codegen for clients of the Codegen API',
  },
  limit: { type: 'string', value: 'N', actions: ['list'], about: 'how many, 100 by default and at most' },
  skip: { type: 'string', value: 'N', actions: ['list'], about: 'leave out this many' },
} as const satisfies Options

export const tokens = command({
  name: 'tokens',
  summary: 'list tokens, create one, or revoke one',
  usage: ['[list]', 'create NAME', 'revoke ID'],
  words: [0, 2],
  choices: ['list', 'create', 'revoke'],
  options,
  notes: ['create prints only the token, once: TOKEN=$(agentrun tokens create ci --scope runs:read)'],
  async run(given) {
    const [action = 'list', which] = given.words
    const { client, json, print, signal } = given
    if (action === 'list') return list(given)
    if (which === undefined) throw new UsageError(`agentrun tokens ${action} takes ${action === 'create' ? 'a name' : 'the id of a token'}`)
    if (action === 'create') {
      const created = await client().call('createToken', { body: await wanted(given, which), signal })
      if (json) print.json(created)
      else {
        print.note(`token ${created.id} for ${created.name}, ${reach(created)}; it is shown only now:`)
        print.line(plainText(created.token))
      }
      return 0
    }
    const revoked = await client().call('revokeToken', {
      params: { token_id: whole('the id of a token', which) },
      repeatable: true,
      signal,
    })
    if (json) print.json(revoked)
    else print.line(`revoked: ${revoked.id} ${firstLine(revoked.name, 80)}`)
    return 0
  },
})

async function wanted({ values, client, signal }: Given<typeof options>, name: string): Promise<Body<'createToken'>> {
  const repository_ids: number[] = []
  for (const given of values.repo ?? []) repository_ids.push(await repositoryId(client(), given, signal))
  return {
    name,
    scopes: values.scope as Body<'createToken'>['scopes'],
    repository_ids: repository_ids.length === 0 ? undefined : repository_ids,
    expires_in_seconds: seconds(values['expires-in']),
    user_id: whole('--user', values.user),
    wire_profile: values['wire-profile'] as Body<'createToken'>['wire_profile'],
  }
}

const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError('--expires-in must be a time like 90d, 12h or 30m')
  return Number(count) * (units[unit] ?? 1)
}

const reach = ({ scopes, expires_at }: Pick<Token, 'scopes' | 'expires_at'>) =>
  `${scopes === null ? 'all scopes of its role' : scopes.join(' ')}, ${expires_at === null ? 'without expiry' : `until ${expires_at}`}`

async function list({ values, client, json, print, signal }: Given<typeof options>): Promise<number> {
  const query = { limit: whole('--limit', values.limit), skip: whole('--skip', values.skip) }
  const page = await client().call('listTokens', { query, signal })
  if (json) {
    print.json(page)
    return 0
  }
  const rows = page.items.map(token => [
    String(token.id),
    firstLine(token.name, 40),
    firstLine(`${token.prefix}…${token.hint}`, 40),
    stateOf(token, Date.now()),
    token.last_used_at ?? 'never',
    firstLine(reach(token), 200),
  ])
  const header = ['ID', 'NAME', 'TOKEN', 'STATE', 'LAST USED', 'REACH']
  for (const line of columns([header, ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text))) print.line(line)
  if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} tokens; --skip shows others`)
  return 0
}

function stateOf({ revoked_at, expires_at }: Token, now: number): string {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'good'
}
