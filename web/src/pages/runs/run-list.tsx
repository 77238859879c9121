import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { repositoriesQuery, runsQuery } from '../../api/queries.ts'
import { useKeepRunList } from '../../components/frame/kept-run-list.ts'
import { NewRunLink } from '../../components/new-run-link.tsx'
import { Page } from '../../components/page.tsx'
import { isFiltered, loaded, NothingMatches, PagedList, totalNote } from '../../components/paged-list.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { RunFilters } from '../../components/runs/run-filters.tsx'
import { RunRow, RunRowHead } from '../../components/runs/run-row.tsx'
import { useLiveRuns } from '../../components/runs/use-live-runs.ts'
import { ConnectionNote } from '../../components/trace/connection-note.tsx'
import { plural } from '../../text/format.ts'
import { Blank } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { filterOf } from './run-filter.ts'
import { ViewLinks } from './view-links.tsx'

const SelectedRuns = lazy(() => import('./selected-runs.tsx'))

export function RunListPage() {
  const search = useSearch({ from: '/app/' })
  useKeepRunList(search)
  const list = useInfiniteQuery(runsQuery(filterOf(search)))
  const stream = useLiveRuns()
  const { items, total } = loaded(list)
  return (
    <Page heading="Runs" note={totalNote(list)} actions={<ConnectionNote state={stream} />}>
      <ViewLinks />
      <RunFilters />
      <PagedList
        framed
        list={list}
        nouns={['run', 'runs']}
        more={`Load ${plural(Math.min(50, total - items.length), 'older run')}`}
        empty={isFiltered(search) ? <NothingMatches what="run" link={{ to: '/' }} /> : <FirstRun />}
      >
        {runs => <RunRows runs={uniqueById(runs)} busy={list.isFetching} live={stream.name === 'live'} />}
      </PagedList>
    </Page>
  )
}

/** The rows, of which those who may change runs can select some. `live` false: times stand still. */
function RunRows({ runs, busy, live }: { runs: AgentRun[]; busy: boolean; live: boolean }) {
  const selectable = useReadOnlyReason() === null
  const now = useNow(live, runs.some(run => !run.terminal) ? 1000 : 15_000)
  const repositories = useQuery(repositoriesQuery).data ?? []
  const names = new Map(repositories.map(repository => [repository.id, repository.full_name]))
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  // A run that has left the list is no longer selected.
  const selected = runs.filter(run => chosen.has(run.id))
  const choose = (ids: number[], on: boolean) => {
    const next = new Set(chosen)
    for (const id of ids) on ? next.add(id) : next.delete(id)
    setChosen(next)
  }
  return (
    <>
      <RunRowHead selectable={selectable} />
      <ul aria-label="Agent runs, newest first" aria-busy={busy}>
        {runs.map(run => (
          <RunRow
            key={run.id}
            run={run}
            repository={run.repo_id === null ? null : (names.get(run.repo_id) ?? run.repo_name)}
            now={now}
            selected={chosen.has(run.id)}
            on_select={selectable ? () => choose([run.id], !chosen.has(run.id)) : null}
          />
        ))}
      </ul>
      {selected.length > 0 && (
        <Suspense>
          <SelectedRuns
            runs={selected}
            loaded={runs.length}
            on_all={() =>
              choose(
                runs.map(({ id }) => id),
                true,
              )
            }
            on_none={() => setChosen(new Set())}
          />
        </Suspense>
      )}
    </>
  )
}

/** A run that arrived live shifts later pages by one, so a page may repeat a run. */
const uniqueById = <T extends { id: number }>(items: T[]) => [
  ...new Map(items.map(item => [item.id, item])).values(),
]

function FirstRun() {
  const sample = useQuery(repositoriesQuery).data?.some(repository => repository.sample)
  return (
    <Blank icon={<Bot />} title="No runs yet">
      <p>
        A run gives a task to an agent: it works on a clone of your repository in a sandbox, commits to a
        branch of its own, and opens a pull request. Runs created through the API appear here as well.
      </p>
      <p className="mt-4 flex flex-wrap justify-center gap-2">
        {sample && (
          <NewRunLink search={{ sample: true }} variant="primary">
            Try it on the sample repository
          </NewRunLink>
        )}
        <NewRunLink>New run</NewRunLink>
      </p>
    </Blank>
  )
}
