import type { Query } from '../../../sdk/operations.ts'
import { run_statuses } from '../../../sdk/routes.ts'
import { type CommandArguments, command, type Options, whole } from '../../command.ts'
import { runTable } from '../../format-run.ts'
import { list, newest_options } from '../../resource.ts'

const options = {
  status: {
    type: 'string',
    multiple: true,
    value: 'STATUS',
    choices: run_statuses,
    about: 'only those of this status; may be repeated',
  },
  repo: {
    type: 'string',
    multiple: true,
    value: 'ID',
    about: 'only those of this repository; may be repeated',
  },
  tag: { type: 'string', multiple: true, value: 'TAG', about: 'only those with this tag; may be repeated' },
  search: { type: 'string', value: 'TEXT', about: 'only those with this in title or prompt' },
  archived: { type: 'boolean', about: 'only archived ones' },
  ...newest_options,
} as const satisfies Options

export const runs = command({
  name: 'runs',
  summary: 'list runs, newest first',
  usage: [],
  words: [0, 0],
  options,
  run: list({
    operation: 'listAgentRuns',
    query: ({ values }: CommandArguments<typeof options>) => ({
      status: values.status as Query<'listAgentRuns'>['status'],
      repo_id: values.repo?.map(repo => whole('--repo', repo)),
      tag: values.tag,
      q: values.search,
      archived: values.archived,
    }),
    limit: 20,
    noun: 'runs',
    empty: 'no runs',
    lines: (runs, print) => runTable([...runs], print, Date.now()),
  }).run,
})
