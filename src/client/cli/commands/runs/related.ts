import { command, whole } from '../../command.ts'
import { runTable } from '../../format-run.ts'

export const related = command({
  name: 'related',
  summary: 'list the runs that are related to a run: parent, children, forks, analyses',
  usage: ['ID'],
  words: [1, 1],
  options: {},
  async run({ words, json, print, client, signal }) {
    const page = await client().runs.related(whole('the id of a run', words[0] ?? ''), {}, { signal })
    if (json) print.json(page)
    else if (page.total === 0) print.note('no related runs')
    else
      for (const line of runTable(page.items, print, Date.now(), ({ relation }) => relation)) print.line(line)
    return 0
  },
})
