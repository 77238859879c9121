import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Box, Stethoscope } from 'lucide-react'
import { useState } from 'react'
import { FilterSelect, RepositoryFilter, sameNames } from '../../components/filters.tsx'
import { Page } from '../../components/page.tsx'
import { isFiltered, loaded, NothingMatches, PagedList, totalNote } from '../../components/paged-list.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { sandbox_kinds, sandbox_states } from '../../search-params.ts'
import { Button } from '../../ui/button.tsx'
import { Blank } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { AnalyzeManyLogs } from './analyze-many-logs.tsx'
import { sandboxesQuery } from './sandbox-queries.ts'
import { SandboxRow, SandboxRowHead } from './sandbox-row.tsx'

/** Sandboxes of all runs, with their resource usage. */
export function SandboxListPage() {
  const search = useSearch({ from: '/app/sandboxes/' })
  const list = useInfiniteQuery(sandboxesQuery(search))
  const now = useNow(true, loaded(list).items.some(({ ended_at }) => ended_at === null) ? 1000 : 15_000)
  return (
    <Page heading="Sandboxes" note={totalNote(list)} actions={<AnalyzeButton />}>
      <Filters />
      <PagedList
        framed
        list={list}
        nouns={['sandbox', 'sandboxes']}
        empty={
          isFiltered(search) ? <NothingMatches what="sandbox" link={{ to: '/sandboxes' }} /> : <NoneYet />
        }
      >
        {items => (
          <>
            <SandboxRowHead />
            <ul aria-label="Sandboxes, newest first" aria-busy={list.isFetching}>
              {items.map(sandbox => (
                <SandboxRow key={sandbox.id} sandbox={sandbox} now={now} />
              ))}
            </ul>
          </>
        )}
      </PagedList>
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
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterSelect
        label="State"
        any="Any state"
        value={search.state}
        options={sameNames(sandbox_states)}
        on_choose={state => change({ state })}
      />
      <FilterSelect
        label="Kind"
        any="Any kind"
        value={search.kind}
        options={sameNames(sandbox_kinds)}
        on_choose={kind => change({ kind })}
      />
      <RepositoryFilter value={search.repo} on_choose={repo => change({ repo })} />
    </search>
  )
}

const NoneYet = () => (
  <Blank icon={<Box />} title="No sandboxes yet">
    Each run executes in a sandbox. Its resource usage is kept as long as the run.
  </Blank>
)
