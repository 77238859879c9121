import type { Query } from '../../../sdk/operations.ts'
import { run_statuses } from '../../../sdk/table.ts'
import { command, whole } from '../../command.ts'
import { runTable } from '../../run-lines.ts'

export const runs = command({
  name: 'runs',
  summary: 'list runs, newest first',
  usage: [],
  words: [0, 0],
  options: {
    status: { type: 'string', multiple: true, value: 'STATUS', choices: run_statuses, about: 'only those of this status; may be repeated' },
    repo: { type: 'string', multiple: true, value: 'ID', about: 'only those of this repository; may be repeated' },
    tag: { type: 'string', multiple: true, value: 'TAG', about: 'only those with this tag; may be repeated' },
    search: { type: 'string', value: 'TEXT', about: 'only those with this in title or prompt' },
    archived: { type: 'boolean', about: 'only archived ones' },
    limit: { type: 'string', value: 'N', about: 'how many, 20 by default, 100 at most' },
    skip: { type: 'string', value: 'N', about: 'leave out this many' },
  },
  async run({ values, json, print, client, signal }) {
    const query: Query<'listAgentRuns'> = {
      status: values.status as Query<'listAgentRuns'>['status'],
      repo_id: values.repo?.map(repo => whole('--repo', repo)),
      tag: values.tag,
      q: values.search,
      archived: values.archived,
      limit: whole('--limit', values.limit) ?? 20,
      skip: whole('--skip', values.skip),
    }
    const page = await client().runs.list(query, { signal })
    if (json) print.json(page)
    else if (page.total === 0) print.note('no runs')
    else {
      for (const line of runTable(page.items, print, Date.now())) print.line(line)
      if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} runs; --limit and --skip show others`)
    }
    return 0
  },
})
