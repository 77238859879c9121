import { command, whole } from '../command.ts'
import { firstLine } from '../plain-text.ts'
import { columns } from '../printer.ts'

export const repos = command({
  name: 'repos',
  summary: 'list repositories, oldest first',
  takes: '',
  words: [0, 0],
  options: {
    limit: { type: 'string', value: 'N', about: 'how many, 100 by default and at most' },
    skip: { type: 'string', value: 'N', about: 'leave out this many' },
  },
  async run({ values, json, print, client, signal }) {
    const page = await client().repositories({ limit: whole('--limit', values.limit), skip: whole('--skip', values.skip) }, { signal })
    if (json) print.json(page)
    else if (page.total === 0) print.note('no repositories')
    else {
      const rows = page.items.map(item => [
        String(item.id),
        firstLine(item.full_name, 80),
        item.is_default ? 'default' : '',
        firstLine(item.url, 200),
      ])
      for (const line of columns([['ID', 'NAME', '', 'URL'], ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text)))
        print.line(line)
      if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} repositories; --skip shows others`)
    }
    return 0
  },
})
