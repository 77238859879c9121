import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChartNoAxesColumn } from 'lucide-react'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { type UsageSearch, usage_groups } from '../../search-params.ts'
import { compact, duration, money } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Input, Select } from '../../ui/field.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { MonthSummary } from './month-summary.tsx'

type Usage = Result<'getUsage'>
type Item = Usage['items'][number]

const group_names = { day: 'Day', repo: 'Repository', user: 'Person', model: 'Model' } as const

const usageQuery = ({ by = 'day', from, to }: UsageSearch) =>
  queryOptions({
    queryKey: ['usage', by, from, to],
    queryFn: ({ signal }) => call('getUsage', { query: { group_by: by, from, to }, signal }),
    placeholderData: keepPreviousData,
  })

const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: ({ signal }) => call('listUsers', { query: { limit: 100 }, signal }),
  staleTime: 300_000,
})

/** Cost, tokens and runs of a period, against the budget of the month. */
export function UsagePage() {
  const search = useSearch({ from: '/app/usage' })
  const usage = useQuery(usageQuery(search))
  const nameOf = useNames(usage.data?.group_by ?? 'day')
  if (usage.isError) return <PageProblem error={usage.error} retry={() => usage.refetch()} what="overview" />
  const { data } = usage
  return (
    <Page heading="Usage" actions={<Period usage={data} />}>
      {!data && <Loading label="Loading the usage" />}
      {data && <MonthSummary month={data.month} />}
      {data?.items.length === 0 && (
        <Blank icon={<ChartNoAxesColumn />} title="No usage in this period">
          Cost, tokens and worker time are counted as runs execute.
        </Blank>
      )}
      {data && data.items.length > 0 && (
        <Table
          label={`Usage by ${group_names[data.group_by].toLowerCase()}`}
          columns={[{ name: group_names[data.group_by], main: true, cell: nameOf }, ...numbers]}
          rows={data.items}
          row_key={({ day, repo_id, user_id, model }) => [day, repo_id, user_id, model].join(' ')}
        />
      )}
    </Page>
  )
}

const numbers: Column<Item>[] = [
  { name: 'Runs', align: 'end', cell: ({ runs }) => runs.toLocaleString('en') },
  { name: 'Completed', align: 'end', wide_only: true, cell: ({ completed }) => completed.toLocaleString('en') },
  { name: 'Failed', align: 'end', wide_only: true, cell: ({ failed }) => <span className={failed > 0 ? 'text-bad' : ''}>{failed}</span> },
  { name: 'Tokens in', align: 'end', wide_only: true, cell: ({ input_tokens }) => compact(input_tokens) },
  { name: 'Tokens out', align: 'end', wide_only: true, cell: ({ output_tokens }) => compact(output_tokens) },
  { name: 'Worker time', align: 'end', wide_only: true, cell: ({ active_seconds }) => duration(active_seconds * 1000) },
  {
    name: 'Cost',
    align: 'end',
    cell: ({ cost_usd, known_cost_usd }) => (
      <span title={cost_usd === null ? 'Something of it has no known price' : undefined}>
        {cost_usd === null ? `≥ ${money(known_cost_usd)}` : money(cost_usd)}
      </span>
    ),
  },
]

/** Returns the function that names an item, with the names of repositories and persons. */
function useNames(group: Usage['group_by']): (item: Item) => string {
  const repositories = useQuery({ ...repositoriesQuery, enabled: group === 'repo' }).data ?? []
  const users = useQuery({ ...usersQuery, enabled: group === 'user' }).data?.items ?? []
  return ({ day, repo_id, user_id, model }) => {
    if (group === 'day') return day ?? ''
    if (group === 'model') return visible(model ?? '')
    if (group === 'repo')
      return repo_id === null
        ? 'Without a repository'
        : visible(repositories.find(({ id }) => id === repo_id)?.full_name ?? `Repository ${repo_id}`)
    const user = users.find(({ id }) => id === user_id)
    return visible(user?.full_name ?? user?.email ?? `User ${user_id}`)
  }
}

function Period({ usage }: { usage: Usage | undefined }) {
  const search = useSearch({ from: '/app/usage' })
  const navigate = useNavigate({ from: '/usage' })
  const change = (next: UsageSearch) => navigate({ search: { ...search, ...next }, replace: true })
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="Group by"
        className="w-auto!"
        value={search.by ?? 'day'}
        onChange={event => change({ by: usage_groups.find(name => name === event.target.value) })}
      >
        {usage_groups.map(name => (
          <option key={name} value={name}>
            By {group_names[name].toLowerCase()}
          </option>
        ))}
      </Select>
      <Input
        type="date"
        aria-label="First day"
        className="w-auto!"
        value={search.from ?? usage?.from ?? ''}
        onChange={event => change({ from: event.target.value || undefined })}
      />
      <Input
        type="date"
        aria-label="Last day"
        className="w-auto!"
        value={search.to ?? usage?.to ?? ''}
        onChange={event => change({ to: event.target.value || undefined })}
      />
    </search>
  )
}
