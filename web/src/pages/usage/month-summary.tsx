import type { Result } from '../../../../src/contract/calls.ts'
import { money } from '../../text/format.ts'
import { Meter } from '../../ui/meter.tsx'

/** What this month has used of the limits of the organization. */
export function MonthSummary({ month }: { month: Result<'getUsage'>['month'] }) {
  const { known_cost_usd, budget_usd_per_month, runs, runs_per_month } = month
  return (
    <dl className="mb-5 grid gap-3 sm:grid-cols-2">
      <Share
        name="Cost this month"
        used={money(known_cost_usd)}
        limit={budget_usd_per_month === null ? null : money(budget_usd_per_month)}
        share={budget_usd_per_month === null ? null : Number(known_cost_usd) / Number(budget_usd_per_month)}
      />
      <Share
        name="Runs this month"
        used={runs.toLocaleString('en')}
        limit={runs_per_month === null ? null : runs_per_month.toLocaleString('en')}
        share={runs_per_month === null ? null : runs / runs_per_month}
      />
    </dl>
  )
}

type Props = { name: string; used: string; limit: string | null; share: number | null }

function Share({ name, used, limit, share }: Props) {
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="tabular mt-0.5">
        <span className="font-semibold text-xl">{used}</span>{' '}
        <span className="text-faint">{limit === null ? 'no limit' : `of ${limit}`}</span>
        {share !== null && <Meter label={`${name}, share of the limit`} share={share} className="mt-2" />}
      </dd>
    </div>
  )
}
