import type { Result } from '../../../sdk/operations.ts'
import { command, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { repositoryId } from '../../repository.ts'

type Environment = Result<'listEnvironments'>['items'][number]

export const environments = command({
  name: 'environments',
  summary: 'list the environments that setup commands have prepared, or drop them to prepare new ones',
  usage: ['list REPO', 'drop REPO [ID]'],
  words: [2, 3],
  choices: ['list', 'drop'],
  options: {},
  notes: ['drop without an ID drops all environments of the repository. Runs that use one are not affected.'],
  async run({ words: [action = 'list', repo = '', which], client, json, print, signal }) {
    if (action === 'list' && which !== undefined) throw new UsageError('agentrun environments list takes a repository and nothing else')
    const params = { repo_id: await repositoryId(client(), repo, signal) }
    if (action === 'list') {
      const { items } = await client().call('listEnvironments', { params, signal })
      if (json) print.json({ items })
      else
        for (const line of columns([HEADER, ...items.map(rowOf)], (text, row) => (row === 0 ? print.style('dim', text) : text)))
          print.line(line)
      return 0
    }
    const dropped =
      which === undefined
        ? await client().call('dropEnvironments', { params, repeatable: true, signal })
        : await client().call('dropEnvironment', {
            params: { ...params, environment_id: whole('the id of an environment', which) },
            signal,
          })
    if (json) print.json(dropped)
    else print.line(`dropped: ${dropped.dropped}`)
    return 0
  },
})

const HEADER = ['ID', 'MADE', 'BY RUN', 'REF', 'COMMIT', 'MIB', 'USES', 'SETUP']

const rowOf = (item: Environment): string[] => [
  `${item.id}`,
  item.made_at,
  `${item.made_by_run}`,
  plainText(item.base_ref),
  item.base_sha.slice(0, 8),
  (item.bytes / 1024 ** 2).toFixed(1),
  `${item.uses}`,
  `${(item.setup_ms / 1000).toFixed(1)} s`,
]
