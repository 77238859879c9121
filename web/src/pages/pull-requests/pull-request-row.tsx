import { Link } from '@tanstack/react-router'
import { SquareTerminal } from 'lucide-react'
import type { PullRequest } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { Created, ListHead, rowStyle } from '../../components/list-row.tsx'
import { ChecksMark } from '../../components/pull-requests/checks-mark.tsx'
import { ReviewMark } from '../../components/pull-requests/review-mark.tsx'
import { StateBadge } from '../../components/pull-requests/state-badge.tsx'
import { visible } from '../../text/visible.ts'

const columns = 'md:grid-cols-[6rem_minmax(0,1fr)_7.5rem_8rem_3.5rem_9rem]'
const metrics = 'grid grid-cols-[1fr_5rem] items-center gap-2 text-right'

export const PullRequestRowHead = () => (
  <ListHead
    columns={columns}
    names={['State', 'Pull request', 'Review', 'Checks', 'Run']}
    metrics={metrics}
    metric_names={['Lines', 'Created']}
  />
)

type Props = { pull_request: PullRequest; repository: string | null; now: number }

/** One pull request of the list. The whole row links to its page. */
export function PullRequestRow({ pull_request, repository, now }: Props) {
  const {
    id,
    number,
    title,
    state,
    agent_run_id,
    head_branch,
    base_branch,
    additions,
    deletions,
    created_at,
  } = pull_request
  return (
    <li data-pull-request-id={id} className={`${rowStyle} ${columns}`}>
      <div className="max-md:col-start-2 max-md:row-start-1 max-md:justify-self-end">
        <StateBadge state={state} />
      </div>
      <div className="min-w-0 max-md:col-start-1 max-md:row-start-1">
        <Link
          to="/pull-requests/$prId"
          params={{ prId: String(id) }}
          className="block truncate font-medium after:absolute after:inset-0"
          title={visible(title)}
        >
          <bdi>{visible(title)}</bdi>
        </Link>
        <div className="flex min-w-0 gap-x-2.5 text-faint text-xs">
          <bdi className="tabular shrink-0">#{number}</bdi>
          {repository && <bdi className="max-w-3/5 shrink-0 truncate">{visible(repository)}</bdi>}
          <span className="truncate font-mono text-2xs max-sm:hidden">
            {visible(head_branch)} → {visible(base_branch)}
          </span>
        </div>
      </div>
      <ReviewMark review={pull_request.review} />
      <div className="max-md:justify-self-end">
        <ChecksMark summary={pull_request.checks} />
      </div>
      <span className="text-xs max-md:col-start-2 max-md:text-right">
        {agent_run_id === null ? (
          <span className="text-faint">–</span>
        ) : (
          <Link
            to="/agent/trace/$id"
            params={{ id: String(agent_run_id) }}
            className="tabular relative z-10 inline-flex min-h-6 items-center gap-1 rounded-sm text-muted hover:text-ink hover:underline"
          >
            <SquareTerminal aria-hidden className="size-3 text-faint" />
            <span className="sr-only">Run </span>#{agent_run_id}
          </Link>
        )}
      </span>
      <dl className={`tabular text-xs max-md:hidden ${metrics}`}>
        <div>
          <dt className="sr-only">Lines</dt>
          <dd>
            <span className="text-ok">+{additions}</span> <span className="text-bad">−{deletions}</span>
          </dd>
        </div>
        <Created at={created_at} now={now} />
      </dl>
    </li>
  )
}
