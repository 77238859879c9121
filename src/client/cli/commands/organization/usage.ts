import type { Query, Result } from '../../../sdk/operations.ts'
import { command, type Options } from '../../command.ts'
import { duration } from '../../format-run.ts'
import { firstLine } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

const groups = ['day', 'repo', 'user', 'model'] as const

const options = {
  by: { type: 'string', value: 'GROUP', choices: groups, about: 'what the rows are, day by default' },
  from: { type: 'string', value: 'DAY', about: "first day (UTC), default the month's first: 2026-11-01" },
  to: { type: 'string', value: 'DAY', about: 'last day (UTC), today by default' },
  csv: { type: 'boolean', about: 'as CSV' },
} as const satisfies Options

type Item = Result<'getUsage'>['items'][number]

export const usage = command({
  name: 'usage',
  summary: 'show cost, tokens and success of runs, against the budget',
  usage: [''],
  words: [0, 0],
  options,
  async run({ values, client, json, print, signal }) {
    const query: Query<'getUsage'> = {
      from: values.from,
      to: values.to,
      group_by: values.by as Query<'getUsage'>['group_by'],
    }
    if (values.csv) {
      const response = await client().request('getUsage', { query: { ...query, format: 'csv' }, signal })
      print.line((await response.text()).replaceAll('\r\n', '\n').trimEnd())
      return 0
    }
    const found = await client().call('getUsage', { query, signal })
    if (json) {
      print.json(found)
      return 0
    }
    const header = [found.group_by.toUpperCase(), 'RUNS', 'SUCCESS', 'TOKENS', 'COST', 'TO PULL REQUEST']
    const rows = [
      ...found.items.map(item => [nameOf(item), ...cells(item)]),
      ['total', ...cells(found.total)],
    ]
    for (const line of columns([header, ...rows], (text, row) =>
      row === 0 ? print.style('dim', text) : text,
    ))
      print.line(line)
    const { known_cost_usd, budget_usd_per_month, runs, runs_per_month } = found.month
    const budget = budget_usd_per_month === null ? ', no limit' : ` of $${budget_usd_per_month}`
    const most = runs_per_month === null ? ', no limit' : ` of ${runs_per_month}`
    print.note(`this month: cost $${known_cost_usd}${budget}; runs ${runs}${most}`)
    return 0
  },
})

const nameOf = ({ day, model, name, repo_id, user_id }: Item) =>
  firstLine(day ?? model ?? name ?? `${repo_id ?? user_id ?? 'none'}`, 60)

function cells(numbers: Omit<Item, 'day' | 'repo_id' | 'user_id' | 'model' | 'name'>): string[] {
  const {
    runs,
    success_rate,
    input_tokens,
    output_tokens,
    cost_usd,
    known_cost_usd,
    median_seconds_to_pull_request: seconds,
  } = numbers
  return [
    String(runs),
    success_rate === null ? '-' : `${Math.round(success_rate * 100)} %`,
    (input_tokens + output_tokens).toLocaleString('en'),
    cost_usd === null ? `$${known_cost_usd} and more` : `$${cost_usd}`,
    seconds === null ? '-' : duration(seconds * 1_000),
  ]
}
