import { useQuery } from '@tanstack/react-query'
import { linkOptions, Outlet, useParams } from '@tanstack/react-router'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { pullRequestPageQuery, repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { ChecksMark } from '../../components/pull-requests/checks-mark.tsx'
import { ReviewMark } from '../../components/pull-requests/review-mark.tsx'
import { StateBadge } from '../../components/pull-requests/state-badge.tsx'
import { SafeLink } from '../../components/safe-link.tsx'
import { ago, moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Loading } from '../../ui/notice.tsx'
import { useNow } from '../../ui/now.ts'
import { SectionTabs } from '../../ui/section-nav.tsx'
import { EditPullRequest } from './edit-pull-request.tsx'

/** One pull request: its heading and tabs. Each tab is a page of its own with an address. */
export function PullRequestPage() {
  const { prId } = useParams({ from: '/app/pull-requests/$prId' })
  const id = /^\d{1,15}$/.test(prId) ? Number(prId) : null
  const pull_request = useQuery({ ...pullRequestPageQuery(id ?? 0), enabled: id !== null })
  if (id === null) return <PageProblem error={null} what="pull request" />
  if (pull_request.data) return <Found key={id} pull_request={pull_request.data} />
  if (pull_request.isError)
    return <PageProblem error={pull_request.error} retry={() => pull_request.refetch()} what="pull request" />
  return <Loading label="Loading the pull request" />
}

function Found({ pull_request }: { pull_request: PullRequest }) {
  const { id, number, title, files_changed } = pull_request
  const params = { prId: String(id) }
  const tabs = [
    { name: 'Conversation', link: linkOptions({ to: '/pull-requests/$prId', params }) },
    { name: `Changes (${files_changed})`, link: linkOptions({ to: '/pull-requests/$prId/changes', params }) },
  ]
  return (
    <Page
      heading={title}
      title={null}
      note={<bdi>#{number}</bdi>}
      actions={<EditPullRequest pull_request={pull_request} />}
    >
      <Facts pull_request={pull_request} />
      <SectionTabs label="Pull request" items={tabs} />
      <Outlet />
    </Page>
  )
}

/** State, repository, branches, checks, size and age in one line. */
function Facts({ pull_request }: { pull_request: PullRequest }) {
  const {
    repo_id,
    state,
    head_branch,
    base_branch,
    review,
    checks,
    additions,
    deletions,
    created_at,
    merged_at,
    url,
  } = pull_request
  const now = useNow(true, 15_000)
  const repository = useQuery(repositoriesQuery).data?.find(repo => repo.id === repo_id)
  const elsewhere = URL.canParse(url) && new URL(url).origin !== location.origin
  return (
    <div className="-mt-2 mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
      <StateBadge state={state} />
      {repository && <bdi>{visible(repository.full_name)}</bdi>}
      <span className="font-mono text-2xs [overflow-wrap:anywhere]">
        <bdi>{visible(head_branch)}</bdi> → <bdi>{visible(base_branch)}</bdi>
      </span>
      <ReviewMark review={review} />
      <ChecksMark summary={checks} />
      <span className="tabular">
        <span className="text-ok">+{additions}</span> <span className="text-bad">−{deletions}</span>
      </span>
      <time dateTime={merged_at ?? created_at} title={moment(merged_at ?? created_at)}>
        {merged_at ? 'merged' : 'created'} {ago(merged_at ?? created_at, now)}
      </time>
      {elsewhere && <SafeLink href={url}>View on {new URL(url).host}</SafeLink>}
    </div>
  )
}
