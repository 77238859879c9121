import { useQuery } from '@tanstack/react-query'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Meter } from '../../../ui/meter.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { type Column, Table } from '../../../ui/table.tsx'
import { organizationQuery } from '../organization-query.ts'
import { Budgets } from './budgets.tsx'
import { amountText, type Limit, limitText, shareOf } from './limit-text.ts'
import { limitsQuery } from './limits-query.ts'

const groups: Record<Limit['set_by'], { name: string; about: string }> = {
  organization: { name: 'This organization', about: 'An ADMIN sets them above.' },
  operator: { name: 'This service', about: 'The operator sets them with a variable of the service.' },
  service: { name: 'Fixed', about: 'The same for everybody.' },
}

/** The budgets of the organization, and every limit as it is now. */
export function LimitsPage() {
  const organization = useQuery(organizationQuery)
  const limits = useQuery(limitsQuery)
  const failed = [organization, limits].find(query => query.isError)
  if (failed) return <PageProblem error={failed.error} retry={() => failed.refetch()} what="list" />
  return (
    <Page heading="Limits and budgets" about="The limits of the organization and their current use.">
      {!(organization.data && limits.data) && <Loading label="Loading the limits" />}
      {organization.data && limits.data && (
        <div className="space-y-6">
          <div className="max-w-3xl">
            <h2 className="mb-2 font-semibold">Budgets</h2>
            <Budgets organization={organization.data} />
          </div>
          {(['organization', 'operator', 'service'] as const).map(set_by => (
            <Group
              key={set_by}
              set_by={set_by}
              limits={limits.data.items.filter(limit => limit.set_by === set_by)}
            />
          ))}
        </div>
      )}
    </Page>
  )
}

function Group({ set_by, limits }: { set_by: Limit['set_by']; limits: Limit[] }) {
  if (limits.length === 0) return null
  const { name, about } = groups[set_by]
  const counted = limits.some(({ used }) => used !== null)
  const shown = columns.filter(
    column => (column.name !== 'Used' || counted) && (column.name !== 'Variable' || set_by === 'operator'),
  )
  return (
    <div>
      <h2 className="font-semibold">{name}</h2>
      <p className="mb-2 text-muted">{about}</p>
      <Table label={`Limits: ${name}`} columns={shown} rows={limits} row_key={limit => limit.name} />
    </div>
  )
}

const columns: Column<Limit>[] = [
  {
    name: 'Limit',
    main: true,
    cell: ({ summary }) => <span className="whitespace-normal">{visible(summary)}</span>,
  },
  { name: 'Used', align: 'end', cell: limit => <Used limit={limit} /> },
  { name: 'Value', align: 'end', cell: limit => limitText(limit) },
  { name: 'Per', wide_only: true, cell: ({ per }) => <span className="text-muted">{per}</span> },
  {
    name: 'Variable',
    wide_only: true,
    cell: ({ setting }) =>
      setting !== null && <code className="font-mono text-faint text-xs">{visible(setting)}</code>,
  },
]

function Used({ limit }: { limit: Limit }) {
  const { used, unit, resets_at, summary } = limit
  if (used === null) return <span className="text-faint">–</span>
  const share = shareOf(limit)
  return (
    <span
      title={resets_at === null ? undefined : `Starts at 0 again at ${moment(resets_at)}`}
      className="inline-flex items-center gap-2"
    >
      {share !== null && <Meter label={`Used of: ${visible(summary)}`} share={share} className="w-16" />}
      <span className="min-w-18 text-right max-sm:min-w-0">{amountText(used, unit)}</span>
    </span>
  )
}
