import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Box, SearchX, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { sandbox_kinds, sandbox_states } from '../../search-params.ts'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { StatusLine } from '../../ui/status-line.tsx'
import { AnalyzeManyLogs } from './analyze-many-logs.tsx'
import { sandboxesQuery } from './sandbox-queries.ts'
import { SandboxRow, SandboxRowHead } from './sandbox-row.tsx'

/** Sandboxes of all runs, with their resource usage. */
export function SandboxListPage() {
  const search = useSearch({ from: '/app/sandboxes/' })
  const sandboxes = useInfiniteQuery(sandboxesQuery(search))
  const items = sandboxes.data?.pages.flatMap(page => page.items) ?? []
  const total = sandboxes.data?.pages[0]?.total ?? 0
  const now = useNow(true, items.some(({ ended_at }) => ended_at === null) ? 1000 : 15_000)
  const filtered = Object.values(search).some(value => value !== undefined)
  return (
    <Page heading="Sandboxes" note={sandboxes.isSuccess ? total.toLocaleString('en') : undefined} actions={<AnalyzeButton />}>
      <Filters />
      <StatusLine message={sandboxes.isSuccess ? plural(total, 'sandbox', 'sandboxes') : ''} />
      <div className="mt-3 rounded-lg border border-line bg-surface">
        {sandboxes.isPending && <Loading label="Loading sandboxes" />}
        {sandboxes.isError && <PageProblem error={sandboxes.error} retry={() => sandboxes.refetch()} what="list" />}
        {sandboxes.isSuccess && items.length === 0 && (filtered ? <NothingFound /> : <NoneYet />)}
        {items.length > 0 && <SandboxRowHead />}
        {items.length > 0 && (
          <ul aria-label="Sandboxes, newest first" aria-busy={sandboxes.isFetching}>
            {items.map(sandbox => (
              <SandboxRow key={sandbox.id} sandbox={sandbox} now={now} />
            ))}
          </ul>
        )}
      </div>
      {sandboxes.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button busy={sandboxes.isFetchingNextPage} onClick={() => sandboxes.fetchNextPage()}>
            Load older sandboxes
          </Button>
        </div>
      )}
    </Page>
  )
}

function AnalyzeButton() {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  return (
    <>
      <Button reason={forbidden} onClick={() => setOpen(true)}>
        <Stethoscope aria-hidden className="size-3.5" /> Analyze logs
      </Button>
      <AnalyzeManyLogs open={open} on_close={() => setOpen(false)} />
    </>
  )
}

function Filters() {
  const search = useSearch({ from: '/app/sandboxes/' })
  const navigate = useNavigate({ from: '/sandboxes/' })
  const repositories = useQuery(repositoriesQuery).data ?? []
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="State"
        className="w-auto!"
        value={search.state ?? ''}
        onChange={event => change({ state: sandbox_states.find(state => state === event.target.value) })}
      >
        <option value="">Any state</option>
        {sandbox_states.map(state => (
          <option key={state}>{state}</option>
        ))}
      </Select>
      <Select
        aria-label="Kind"
        className="w-auto!"
        value={search.kind ?? ''}
        onChange={event => change({ kind: sandbox_kinds.find(kind => kind === event.target.value) })}
      >
        <option value="">Any kind</option>
        {sandbox_kinds.map(kind => (
          <option key={kind}>{kind}</option>
        ))}
      </Select>
      <Select
        aria-label="Repository"
        className="w-auto! max-w-56"
        value={search.repo ?? ''}
        onChange={event => change({ repo: event.target.value === '' ? undefined : Number(event.target.value) })}
      >
        <option value="">Any repository</option>
        {repositories.map(({ id, full_name }) => (
          <option key={id} value={id}>
            {visible(full_name)}
          </option>
        ))}
      </Select>
    </search>
  )
}

const NothingFound = () => (
  <Blank icon={<SearchX />} title="No sandbox matches">
    <Link to="/sandboxes" search={{}} className={buttonStyle('plain', 'mt-2')}>
      Remove all filters
    </Link>
  </Blank>
)

const NoneYet = () => (
  <Blank icon={<Box />} title="No sandboxes yet">
    Each run executes in a sandbox. Its resource usage is kept as long as the run.
  </Blank>
)
