import type { Result } from '../../../sdk/operations.ts'
import { type CommandArguments, type Options, printResult } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import { list, pageOptions, resource, single, table } from '../../resource.ts'

type Repository = Result<'getRepository'>

const options = {
  name: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    about: 'name to show, by default the last part of the address',
  },
  branch: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    about: "where runs start; by default the repository's own default branch",
  },
  description: { type: 'string', value: 'TEXT', actions: ['add'], about: 'what it is' },
  default: { type: 'boolean', actions: ['add'], about: 'use it for runs that name no repository' },
  'branch-prefix': {
    type: 'string',
    value: 'PREFIX',
    actions: ['set'],
    about: 'beginning of the names of branches of its runs, such as feature/; none: as the organization',
  },
  ...pageOptions(['list']),
} as const satisfies Options

export const repos = resource({
  name: 'repos',
  summary: 'list repositories, register one, change one, remove one, or choose the default',
  usage: ['[list]', 'add URL', 'set ID|NAME', 'remove ID|NAME', 'default ID|NAME'],
  words: [0, 2],
  options,
  actions: {
    list: list({
      operation: 'listRepositories',
      noun: 'repositories',
      empty: 'no repositories; agentrun repos add URL registers one',
      lines: table({
        ID: one => String(one.id),
        NAME: nameOf,
        '': marks,
        URL: one => firstLine(one.url, 200),
      }),
    }),
    add: { takes: 'the address of a repository', run: add },
    set: single({
      takes: 'the id or name of one',
      operation: 'updateRepository',
      repeatable: true,
      body: ({ values }: CommandArguments<typeof options>) => ({ branch_prefix: prefixIn(values) }),
      lines: repository => [lineOf('changed', repository)],
    }),
    remove: single({
      takes: 'the id or name of one',
      operation: 'deleteRepository',
      lines: repository => [
        `removed: ${repository.id} ${nameOf(repository)} ${firstLine(repository.url, 200)}`,
      ],
    }),
    default: single({
      takes: 'the id or name of one',
      operation: 'updateRepository',
      repeatable: true,
      body: () => ({ is_default: true }),
      lines: repository => [lineOf('changed', repository)],
    }),
  },
})

/** Returns the full name, followed by a chosen name that differs from it. */
function nameOf({ name, full_name }: Repository): string {
  return firstLine(
    full_name === name || full_name.endsWith(`/${name}`) ? full_name : `${full_name} (${name})`,
    80,
  )
}

function marks({ is_default, archived }: Repository): string {
  return [is_default ? 'default' : '', archived ? 'archived' : ''].filter(Boolean).join(', ')
}

/** Returns null for `none`: the prefix of the organization. */
function prefixIn({ 'branch-prefix': prefix }: { 'branch-prefix'?: string }): string | null {
  if (prefix === undefined) throw new UsageError('agentrun repos set takes --branch-prefix')
  return prefix === 'none' ? null : prefix
}

async function add(
  { client, values, json, print, signal }: CommandArguments<typeof options>,
  url = '',
): Promise<number> {
  const body = { url, name: values.name, default_branch: values.branch, description: values.description }
  let repository = await client().call('createRepository', { body, signal })
  if (values.default && !repository.is_default) {
    const params = { repo_id: repository.id }
    repository = await client().call('updateRepository', {
      params,
      body: { is_default: true },
      repeatable: true,
      signal,
    })
  }
  return printResult({ json, print }, repository, () => [lineOf('registered', repository)])
}

const lineOf = (what: string, repository: Repository) =>
  `${what}: ${repository.id} ${nameOf(repository)}${repository.is_default ? ', the default,' : ''} ${firstLine(repository.url, 200)}`
