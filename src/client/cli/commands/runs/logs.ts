import type { LogEntry, Query } from '../../../sdk/operations.ts'
import { message_types } from '../../../sdk/routes.ts'
import { command, whole } from '../../command.ts'
import { entryLines } from '../../entry-lines.ts'
import { UsageError } from '../../exit.ts'
import { statusText } from '../../format-run.ts'
import { showTrace, staying } from '../../watch-run.ts'

export const logs = command({
  name: 'logs',
  summary: "show a run's trace",
  usage: ['ID'],
  words: [1, 1],
  options: {
    follow: { type: 'boolean', short: 'f', about: 'continue with new entries until the run has ended' },
    type: {
      type: 'string',
      multiple: true,
      value: 'TYPE',
      choices: message_types,
      about: 'only entries of this type; may be repeated',
    },
    tool: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      about: 'only entries of this tool; may be repeated',
    },
    failed: {
      type: 'boolean',
      about: 'only entries that report a failure: errors, failed commands and checks',
    },
    search: { type: 'string', value: 'TEXT', about: 'only entries with this text in them' },
    'after-seq': { type: 'string', value: 'N', about: 'only entries after this one' },
    full: { type: 'boolean', about: 'the whole entries, not one line each' },
  },
  notes: ['With --json each entry is a line of its own.', 'Ctrl-C stops following, not the run.'],
  async run(given) {
    const { values, words, json, print, signal } = given
    const id = whole('the id of a run', words[0] ?? '')
    const { type, tool, failed, search, full = false } = values
    const after_seq = whole('--after-seq', values['after-seq']) ?? 0
    const { runs } = given.client()
    if (values.follow) {
      if (search !== undefined)
        throw new UsageError('--search reads existing entries: it cannot be combined with --follow')
      if (failed) throw new UsageError('--failed reads existing entries: it cannot be combined with --follow')
      const shows = (entry: LogEntry) =>
        (type === undefined || type.includes(entry.message_type)) &&
        (tool === undefined || tool.includes(entry.tool_name ?? ''))
      const run = await staying(given, id, () =>
        showTrace(given, runs.follow(id, { after_seq, signal }), { shows, full }),
      )
      print.note(`run ${id}: ${statusText(run)}`)
      return 0
    }
    const message_type = type as Query<'getAgentRunLogs'>['message_type']
    const query = { after_seq, message_type, tool_name: tool, failed: failed || undefined, q: search }
    for await (const entry of runs.logs(id, query, { signal }))
      if (json) print.json(entry)
      else for (const line of entryLines(entry, print, full)) print.line(line)
    return 0
  },
})
