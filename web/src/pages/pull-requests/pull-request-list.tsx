import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { GitPullRequest } from 'lucide-react'
import { repositoriesQuery } from '../../api/queries.ts'
import { FilterSelect, named, RepositoryFilter, sameNames } from '../../components/filters.tsx'
import { Page } from '../../components/page.tsx'
import { isFiltered, NothingMatches, PagedList, totalNote } from '../../components/paged-list.tsx'
import { reviewNames } from '../../components/pull-requests/review-mark.tsx'
import { pull_request_states } from '../../search-params.ts'
import { Blank } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { PullRequestRow, PullRequestRowHead } from './pull-request-row.tsx'
import { pullRequestsQuery } from './pull-requests-query.ts'

/** The pull requests that runs have opened. */
export function PullRequestListPage() {
  const search = useSearch({ from: '/app/pull-requests/' })
  const list = useInfiniteQuery(pullRequestsQuery(search))
  const repositories = useQuery(repositoriesQuery).data ?? []
  const now = useNow(true, 15_000)
  const names = new Map(repositories.map(({ id, full_name }) => [id, full_name]))
  return (
    <Page heading="Pull requests" note={totalNote(list)}>
      <Filters />
      <PagedList
        framed
        list={list}
        nouns={['pull request', 'pull requests']}
        empty={
          isFiltered(search) ? (
            <NothingMatches what="pull request" link={{ to: '/pull-requests' }} />
          ) : (
            <NoneYet />
          )
        }
      >
        {items => (
          <>
            <PullRequestRowHead />
            <ul aria-label="Pull requests, newest first">
              {items.map(item => (
                <PullRequestRow
                  key={item.id}
                  pull_request={item}
                  repository={names.get(item.repo_id) ?? null}
                  now={now}
                />
              ))}
            </ul>
          </>
        )}
      </PagedList>
    </Page>
  )
}

function Filters() {
  const search = useSearch({ from: '/app/pull-requests/' })
  const navigate = useNavigate({ from: '/pull-requests/' })
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterSelect
        label="State"
        any="Any state"
        value={search.state}
        options={sameNames(pull_request_states)}
        on_choose={state => change({ state })}
      />
      <FilterSelect
        label="Review"
        any="Any review"
        wide
        value={search.review}
        options={named(reviewNames)}
        on_choose={review => change({ review })}
      />
      <RepositoryFilter value={search.repo} on_choose={repo => change({ repo })} />
    </search>
  )
}

const NoneYet = () => (
  <Blank icon={<GitPullRequest />} title="No pull requests yet">
    A run that changes files opens a pull request with its change.
  </Blank>
)
