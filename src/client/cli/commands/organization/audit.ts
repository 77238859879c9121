import { command, type Options, whole } from '../../command.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

const options = {
  action: { type: 'string', multiple: true, value: 'NAME', about: 'only this action, like token.revoked; may be repeated' },
  user: { type: 'string', multiple: true, value: 'ID', about: 'only of this user; may be repeated' },
  after: { type: 'string', value: 'TIME', about: 'only later than this time (ISO 8601)' },
  before: { type: 'string', value: 'TIME', about: 'only earlier than this time (ISO 8601)' },
  limit: { type: 'string', value: 'N', about: 'how many, 20 by default, 100 at most' },
  skip: { type: 'string', value: 'N', about: 'leave out this many' },
} as const satisfies Options

export const audit = command({
  name: 'audit',
  summary: 'show what members and tokens changed, newest first',
  usage: [''],
  words: [0, 0],
  options,
  async run({ values, client, json, print, signal }) {
    const query = {
      action: values.action,
      user_id: values.user?.map(user => whole('--user', user)),
      created_after: values.after,
      created_before: values.before,
      limit: whole('--limit', values.limit) ?? 20,
      skip: whole('--skip', values.skip),
    }
    const page = await client().call('listAuditLog', { query, signal })
    if (json) {
      print.json(page)
      return 0
    }
    const rows = page.items.map(one => [
      ...[one.created_at, one.user_id === null ? 'operator' : `user ${one.user_id}`, firstLine(one.action, 60)],
      ...[firstLine(one.target_id ?? '', 60), firstLine(JSON.stringify(one.detail), 200)],
    ])
    const header = ['TIME', 'BY', 'ACTION', 'TARGET', 'DETAIL']
    for (const line of columns([header, ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text))) print.line(line)
    if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total}; --limit and --skip show others`)
    return 0
  },
})
