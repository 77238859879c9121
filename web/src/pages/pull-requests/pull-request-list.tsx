import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { GitPullRequest, SearchX } from 'lucide-react'
import { repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { reviewNames } from '../../components/pull-requests/review-mark.tsx'
import { pull_request_reviews, pull_request_states } from '../../search-params.ts'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { StatusLine } from '../../ui/status-line.tsx'
import { PullRequestRow, PullRequestRowHead } from './pull-request-row.tsx'
import { pullRequestsQuery } from './pull-requests-query.ts'

/** The pull requests that runs have opened. */
export function PullRequestListPage() {
  const search = useSearch({ from: '/app/pull-requests/' })
  const list = useInfiniteQuery(pullRequestsQuery(search))
  const repositories = useQuery(repositoriesQuery).data ?? []
  const items = list.data?.pages.flatMap(page => page.items) ?? []
  const total = list.data?.pages[0]?.total ?? 0
  const now = useNow(true, 15_000)
  const names = new Map(repositories.map(({ id, full_name }) => [id, full_name]))
  const filtered = Object.values(search).some(value => value !== undefined)
  return (
    <Page heading="Pull requests" note={list.isSuccess ? total.toLocaleString('en') : undefined}>
      <Filters repositories={repositories} />
      <StatusLine message={list.isSuccess ? plural(total, 'pull request') : ''} />
      <div className="mt-3 rounded-lg border border-line bg-surface">
        {list.isPending && <Loading label="Loading pull requests" />}
        {list.isError && <PageProblem error={list.error} retry={() => list.refetch()} what="list" />}
        {list.isSuccess && items.length === 0 && (filtered ? <NothingFound /> : <NoneYet />)}
        {items.length > 0 && <PullRequestRowHead />}
        {items.length > 0 && (
          <ul aria-label="Pull requests, newest first">
            {items.map(item => (
              <PullRequestRow key={item.id} pull_request={item} repository={names.get(item.repo_id) ?? null} now={now} />
            ))}
          </ul>
        )}
      </div>
      {list.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button busy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Load older pull requests
          </Button>
        </div>
      )}
    </Page>
  )
}

function Filters({ repositories }: { repositories: { id: number; full_name: string }[] }) {
  const search = useSearch({ from: '/app/pull-requests/' })
  const navigate = useNavigate({ from: '/pull-requests/' })
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="State"
        className="w-auto!"
        value={search.state ?? ''}
        onChange={event => change({ state: pull_request_states.find(state => state === event.target.value) })}
      >
        <option value="">Any state</option>
        {pull_request_states.map(state => (
          <option key={state}>{state}</option>
        ))}
      </Select>
      <Select
        aria-label="Review"
        className="w-auto!"
        value={search.review ?? ''}
        onChange={event => change({ review: pull_request_reviews.find(review => review === event.target.value) })}
      >
        <option value="">Any review</option>
        {pull_request_reviews.map(review => (
          <option key={review} value={review}>
            {reviewNames[review]}
          </option>
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
  <Blank icon={<SearchX />} title="No pull request matches">
    <Link to="/pull-requests" search={{}} className={buttonStyle('plain', 'mt-2')}>
      Remove all filters
    </Link>
  </Blank>
)

const NoneYet = () => (
  <Blank icon={<GitPullRequest />} title="No pull requests yet">
    A run that changes files opens a pull request with its change.
  </Blank>
)
