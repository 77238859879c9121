import { command, type Given, type Options } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { readSecret } from '../../read-secret.ts'
import { repositoryId } from '../../repository.ts'

const options = {
  repo: { type: 'string', value: 'ID|NAME', about: 'of this repository; by default of the organization' },
  'for-agent': { type: 'boolean', actions: ['set'], about: 'agents get it as a variable of their commands' },
} as const satisfies Options

export const secrets = command({
  name: 'secrets',
  summary: 'list secrets, set one, or delete one',
  usage: ['[list]', 'set NAME', 'delete NAME'],
  words: [0, 2],
  choices: ['list', 'set', 'delete'],
  options,
  notes: ['set prompts for the value, or reads it from standard input: agentrun secrets set NPM_TOKEN < token.txt'],
  async run(given) {
    const [action = 'list', name] = given.words
    if (action === 'list') return list(given)
    if (name === undefined) throw new UsageError(`agentrun secrets ${action} takes the name of a secret`)
    const { values, client, json, print, signal } = given
    const repo_id = values.repo === undefined ? null : await repositoryId(client(), values.repo, signal)
    const set = async () => {
      const body = { value: await readSecret(given, `Value of ${name}`), ...(values['for-agent'] && { for_agent: true }) }
      return repo_id === null
        ? client().call('setSecret', { params: { name }, body, repeatable: true, signal })
        : client().call('setRepositorySecret', { params: { repo_id, name }, body, repeatable: true, signal })
    }
    const remove = () =>
      repo_id === null
        ? client().call('deleteSecret', { params: { name }, signal })
        : client().call('deleteRepositorySecret', { params: { repo_id, name }, signal })
    const done = await (action === 'set' ? set() : remove())
    if (json) print.json(done)
    else print.line(`${action === 'set' ? 'set' : 'deleted'}: ${done.name}`)
    return 0
  },
})

async function list({ values, client, json, print, signal }: Given<typeof options>): Promise<number> {
  const page =
    values.repo === undefined
      ? await client().call('listSecrets', { signal })
      : await client().call('listRepositorySecrets', { params: { repo_id: await repositoryId(client(), values.repo, signal) }, signal })
  if (json) print.json(page)
  else {
    const rows = page.items.map(one => [firstLine(one.name, 100), one.for_agent ? 'agents' : 'setup', one.updated_at])
    for (const line of columns([['NAME', 'FOR', 'UPDATED'], ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text)))
      print.line(line)
  }
  return 0
}
