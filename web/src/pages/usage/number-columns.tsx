import type { Result } from '../../../../src/contract/calls.ts'
import { compact, duration, money, plural } from '../../text/format.ts'
import type { Column } from '../../ui/table.tsx'

type Numbers = Result<'getUsage'>['total']

/** What is counted of each group, and of all. */
export const numberColumns: Column<Numbers>[] = [
  { name: 'Runs', align: 'end', cell: ({ runs }) => runs.toLocaleString('en') },
  {
    name: 'Turns completed',
    align: 'end',
    wide_only: true,
    cell: ({ completed, completed_with_reason: incomplete }) => (
      <>
        {completed.toLocaleString('en')}
        {incomplete > 0 && (
          <span
            className="text-warn"
            title="Completed without doing everything that was requested; not counted as a success"
          >
            {' '}
            ({incomplete.toLocaleString('en')} incomplete)
          </span>
        )}
      </>
    ),
  },
  {
    name: 'Turns failed',
    align: 'end',
    wide_only: true,
    cell: ({ failed }) => <span className={failed > 0 ? 'text-bad' : ''}>{failed}</span>,
  },
  {
    name: 'Success',
    align: 'end',
    cell: ({ success_rate }) => (success_rate === null ? '–' : `${Math.round(success_rate * 100)} %`),
  },
  {
    name: 'Pull requests',
    align: 'end',
    wide_only: true,
    cell: ({ pull_requests }) => pull_requests.toLocaleString('en'),
  },
  {
    name: 'To pull request',
    align: 'end',
    wide_only: true,
    cell: ({ median_seconds_to_pull_request: seconds }) => (
      <span title="Median of the time from the creation of a run to its pull request">
        {seconds === null ? '–' : duration(seconds * 1000)}
      </span>
    ),
  },
  { name: 'Tokens in', align: 'end', wide_only: true, cell: ({ input_tokens }) => compact(input_tokens) },
  { name: 'Tokens out', align: 'end', wide_only: true, cell: ({ output_tokens }) => compact(output_tokens) },
  {
    name: 'Worker time',
    align: 'end',
    wide_only: true,
    cell: ({ active_seconds }) => duration(active_seconds * 1000),
  },
  {
    name: 'Cost',
    align: 'end',
    cell: ({ cost_usd, known_cost_usd, estimated_calls }) => (
      <span title={costNote({ cost_usd, estimated_calls })}>
        {cost_usd !== null && estimated_calls > 0 && '≈ '}
        {cost_usd === null ? `≥ ${money(known_cost_usd)}` : money(cost_usd)}
      </span>
    ),
  },
]

function costNote({ cost_usd, estimated_calls }: Pick<Numbers, 'cost_usd' | 'estimated_calls'>) {
  if (cost_usd === null) return 'The price of some calls is unknown'
  return estimated_calls === 0
    ? undefined
    : `Estimated for ${plural(estimated_calls, 'call')} whose tokens no provider reported`
}
