import { type CommandArguments, command, type Options, whole } from '../../command.ts'
import { firstLine } from '../../plain-text.ts'
import { list, newest_options, table } from '../../resource.ts'

const options = {
  action: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'only this action, like token.revoked; may be repeated',
  },
  user: { type: 'string', multiple: true, value: 'ID', about: 'only of this user; may be repeated' },
  after: { type: 'string', value: 'TIME', about: 'only later than this time (ISO 8601)' },
  before: { type: 'string', value: 'TIME', about: 'only earlier than this time (ISO 8601)' },
  ...newest_options,
} as const satisfies Options

export const audit = command({
  name: 'audit',
  summary: 'show what members and tokens changed, newest first',
  usage: [''],
  words: [0, 0],
  options,
  run: list({
    operation: 'listAuditLog',
    query: ({ values }: CommandArguments<typeof options>) => ({
      action: values.action,
      user_id: values.user?.map(user => whole('--user', user)),
      created_after: values.after,
      created_before: values.before,
    }),
    limit: 20,
    lines: table({
      TIME: one => one.created_at,
      BY: one => (one.user_id === null ? 'operator' : `user ${one.user_id}`),
      ACTION: one => firstLine(one.action, 60),
      TARGET: one => firstLine(one.target_id ?? '', 60),
      DETAIL: one => firstLine(JSON.stringify(one.detail), 200),
    }),
  }).run,
})
