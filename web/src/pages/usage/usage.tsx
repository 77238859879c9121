import { keepPreviousData, queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChartNoAxesColumn, Download } from 'lucide-react'
import type { Result } from '../../../../src/contract/calls.ts'
import { statusOf } from '../../api/api-error.ts'
import { call, core } from '../../api/client.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { type UsageSearch, usage_groups } from '../../search-params.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import { saveBlob } from '../../ui/save-blob.ts'
import { Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { MonthSummary } from './month-summary.tsx'
import { numberColumns } from './number-columns.tsx'

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
  const refused = statusOf(usage.error) === 400
  if (usage.isError && !refused)
    return <PageProblem error={usage.error} retry={() => usage.refetch()} what="overview" />
  const { data } = usage
  return (
    <Page heading="Usage" actions={<Period usage={data} />}>
      {refused && <Notice tone="bad">{visible(usage.error?.message ?? '')}</Notice>}
      {!data && !refused && <Loading label="Loading the usage" />}
      {data && <MonthSummary month={data.month} />}
      {data?.items.length === 0 && (
        <Blank icon={<ChartNoAxesColumn />} title="No usage in this period">
          Cost, tokens and worker time are counted as runs execute.
        </Blank>
      )}
      {data && data.items.length > 0 && (
        <Table
          label={`Usage by ${group_names[data.group_by].toLowerCase()}`}
          columns={[{ name: group_names[data.group_by], main: true, cell: nameOf }, ...numberColumns]}
          rows={data.items}
          foot={<Total total={data.total} />}
          row_key={({ day, repo_id, user_id, model }) => [day, repo_id, user_id, model].join(' ')}
        />
      )}
      {data && data.items.length > 0 && (
        <p className="mt-2 text-muted text-xs">
          Each message to a run starts a turn, so that a run can complete or fail more than once.{' '}
          <em>Success</em> is the share of completed turns among those that completed or failed.
        </p>
      )}
    </Page>
  )
}

/** The sum of all rows, column by column. */
const Total = ({ total }: { total: Usage['total'] }) => (
  <tr>
    <th scope="row" className="h-9 px-3 pl-4 text-left font-medium">
      Total
    </th>
    {numberColumns.map(({ name, wide_only, cell }) => (
      <td
        key={name}
        className={`px-3 text-right tabular whitespace-nowrap last:pr-4 ${wide_only ? 'max-md:hidden' : ''}`}
      >
        {cell(total)}
      </td>
    ))}
  </tr>
)

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
        max={search.to}
        className="w-auto!"
        value={search.from ?? usage?.from ?? ''}
        onChange={event => change({ from: event.target.value || undefined })}
      />
      <Input
        type="date"
        aria-label="Last day"
        min={search.from}
        className="w-auto!"
        value={search.to ?? usage?.to ?? ''}
        onChange={event => change({ to: event.target.value || undefined })}
      />
      <DownloadCsv />
    </search>
  )
}

/** Saves what the table shows, and the columns that it has no space for. */
function DownloadCsv() {
  const { by = 'day', from, to } = useSearch({ from: '/app/usage' })
  const download = useMutation({
    mutationFn: async () => {
      const response = await core.request('getUsage', { query: { group_by: by, from, to, format: 'csv' } })
      saveBlob(await response.blob(), `usage-by-${by}.csv`)
    },
    onError: error => notify(visible(error.message), 'bad'),
  })
  return (
    <Button busy={download.isPending} onClick={() => download.mutate()}>
      <Download aria-hidden className="size-3.5" /> CSV
    </Button>
  )
}
