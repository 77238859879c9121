import type { Body, Result } from '../../../sdk/operations.ts'
import { type CommandArguments, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { repositoryId } from '../../repository.ts'
import { list, pageOptions, resource, single, table } from '../../resource.ts'

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
  'expires-in': {
    type: 'string',
    value: 'TIME',
    actions: ['create'],
    about: 'lifetime, like 90d, 12h or 30m',
  },
  user: {
    type: 'string',
    value: 'ID',
    actions: ['create'],
    about: 'the member or service user that it belongs to; by default you',
  },
  'wire-profile': {
    type: 'string',
    value: 'PROFILE',
    choices: ['standard', 'codegen'],
    actions: ['create'],
    about: 'codegen for clients of the Codegen API',
  },
  ...pageOptions(['list']),
} as const satisfies Options

export const tokens = resource({
  name: 'tokens',
  summary: 'list tokens, create one, or revoke one',
  usage: ['[list]', 'create NAME', 'revoke ID'],
  words: [0, 2],
  options,
  notes: ['create prints only the token, once: TOKEN=$(agentrun tokens create ci --scope runs:read)'],
  actions: {
    list: list({
      operation: 'listTokens',
      noun: 'tokens',
      lines: table({
        ID: one => String(one.id),
        NAME: one => firstLine(one.name, 40),
        TOKEN: one => firstLine(`${one.prefix}…${one.hint}`, 40),
        STATE: one => stateOf(one, Date.now()),
        'LAST USED': one => one.last_used_at ?? 'never',
        REACH: one => firstLine(reach(one), 200),
      }),
    }),
    create: single({
      takes: 'a name',
      operation: 'createToken',
      body: wanted,
      about: one => `token ${one.id} for ${one.name}, ${reach(one)}; it is shown only now:`,
      lines: ({ token }) => [plainText(token)],
    }),
    revoke: single({
      operation: 'revokeToken',
      repeatable: true,
      lines: one => [`revoked: ${one.id} ${firstLine(one.name, 80)}`],
    }),
  },
})

function wanted({ values, client, signal }: CommandArguments<typeof options>, name = '') {
  const body: Body<'createToken'> = {
    name,
    scopes: values.scope as Body<'createToken'>['scopes'],
    expires_in_seconds: seconds(values['expires-in']),
    user_id: whole('--user', values.user),
    wire_profile: values['wire-profile'] as Body<'createToken'>['wire_profile'],
  }
  return async () => {
    const repository_ids: number[] = []
    for (const given of values.repo ?? []) repository_ids.push(await repositoryId(client(), given, signal))
    return repository_ids.length === 0 ? body : { ...body, repository_ids }
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

function stateOf({ revoked_at, expires_at }: Token, now: number): string {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'good'
}
