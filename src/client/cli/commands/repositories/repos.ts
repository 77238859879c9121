import type { Body, Result } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'

type Repository = Result<'getRepository'>

const actions = ['list', 'add', 'set', 'remove', 'default'] as const

export const repos = command({
  name: 'repos',
  summary: 'list repositories, register one, change one, remove one, or choose the default',
  usage: ['[list]', 'add URL', 'set ID|NAME', 'remove ID|NAME', 'default ID|NAME'],
  words: [0, 2],
  choices: actions,
  options: {
    name: { type: 'string', value: 'NAME', actions: ['add'], about: 'name to show, by default the last part of the address' },
    branch: { type: 'string', value: 'NAME', actions: ['add'], about: "where runs start; by default the repository's own default branch" },
    description: { type: 'string', value: 'TEXT', actions: ['add'], about: 'what it is' },
    default: { type: 'boolean', actions: ['add'], about: 'use it for runs that name no repository' },
    'branch-prefix': {
      ...{ type: 'string', value: 'PREFIX', actions: ['set'] },
      about: 'beginning of the names of branches of its runs, such as feature/; none: as the organization',
    },
    limit: { type: 'string', value: 'N', actions: ['list'], about: 'how many, 100 by default and at most' },
    skip: { type: 'string', value: 'N', actions: ['list'], about: 'leave out this many' },
  },
  async run(given) {
    const [action = 'list', which] = given.words
    if (action === 'list') return list(given, given.values)
    if (which === undefined)
      throw new UsageError(`agentrun repos ${action} takes ${action === 'add' ? 'the address of a repository' : 'the id or name of one'}`)
    const prefix = given.values['branch-prefix']
    if (action === 'set' && prefix === undefined) throw new UsageError('agentrun repos set takes --branch-prefix')
    const change = action === 'set' ? { branch_prefix: prefix === 'none' ? null : prefix } : { is_default: true }
    const repository = await (action === 'add' ? add(given, which, given.values) : edit(given, { which, action, change }))
    if (given.json) given.print.json(repository)
    else given.print.line(lineOf(repository, action))
    return 0
  },
})

async function list({ client, json, print, signal }: Given<Options>, page_of: { limit?: string; skip?: string }): Promise<number> {
  const query = { limit: whole('--limit', page_of.limit), skip: whole('--skip', page_of.skip) }
  const page = await client().repositories(query, { signal })
  if (json) print.json(page)
  else if (page.total === 0) print.note('no repositories; agentrun repos add URL registers one')
  else {
    const rows = page.items.map(item => [String(item.id), nameOf(item), marks(item), firstLine(item.url, 200)])
    for (const line of columns([['ID', 'NAME', '', 'URL'], ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text)))
      print.line(line)
    if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} repositories; --skip shows others`)
  }
  return 0
}

/** Returns the full name, followed by a chosen name that differs from it. */
const nameOf = ({ name, full_name }: Repository) =>
  firstLine(full_name === name || full_name.endsWith(`/${name}`) ? full_name : `${full_name} (${name})`, 80)

const marks = ({ is_default, archived }: Repository) => [is_default ? 'default' : '', archived ? 'archived' : ''].filter(Boolean).join(', ')

async function add(
  { client, signal }: Given<Options>,
  url: string,
  values: { name?: string; branch?: string; description?: string; default?: boolean },
): Promise<Repository> {
  const body = { url, name: values.name, default_branch: values.branch, description: values.description }
  const created = await client().call('createRepository', { body, signal })
  if (!values.default || created.is_default) return created
  return client().call('updateRepository', { params: { repo_id: created.id }, body: { is_default: true }, repeatable: true, signal })
}

type Edit = { which: string; action: string; change: Body<'updateRepository'> }

async function edit({ client, signal }: Given<Options>, { which, action, change }: Edit): Promise<Repository> {
  const params = { repo_id: await repositoryId(client(), which, signal) }
  if (action === 'remove') return client().call('deleteRepository', { params, signal })
  return client().call('updateRepository', { params, body: change, repeatable: true, signal })
}

function lineOf(repository: Repository, action: string): string {
  const { id, url, is_default } = repository
  const what = action === 'remove' ? 'removed' : action === 'add' ? 'registered' : 'changed'
  return `${what}: ${id} ${nameOf(repository)}${is_default && action !== 'remove' ? ', the default,' : ''} ${firstLine(url, 200)}`
}
