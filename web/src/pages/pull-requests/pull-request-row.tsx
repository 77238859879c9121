import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed, CircleX, GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft } from 'lucide-react'
import type { PullRequest, PullRequestState } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { Created, rowStyle } from '../../components/list-row.tsx'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'

const states: Record<PullRequestState, { tone: BadgeTone; Icon: typeof GitPullRequest }> = {
  open: { tone: 'ok', Icon: GitPullRequest },
  draft: { tone: 'neutral', Icon: GitPullRequestDraft },
  merged: { tone: 'paused', Icon: GitMerge },
  closed: { tone: 'bad', Icon: GitPullRequestClosed },
}

const columns = 'md:grid-cols-[6.5rem_minmax(0,1fr)_8rem_6rem_5rem]'

type Props = { pull_request: PullRequest; repository: string | null; now: number }

/** One pull request of the list. The whole row links to the run that opened it, if that still exists. */
export function PullRequestRow({ pull_request, repository, now }: Props) {
  const { id, number, title, state, agent_run_id, head_branch, base_branch, additions, deletions, created_at } = pull_request
  const { tone, Icon } = states[state]
  const name = visible(title)
  return (
    <li data-pull-request-id={id} className={`${rowStyle} ${columns}`}>
      <div>
        <Badge tone={tone}>
          <Icon aria-hidden className="size-3" /> {state}
        </Badge>
      </div>
      <div className="min-w-0 max-md:col-span-2 max-md:row-start-1">
        {agent_run_id === null ? (
          <span className="block truncate font-medium">{name}</span>
        ) : (
          <Link
            to="/agent/trace/$id"
            params={{ id: String(agent_run_id) }}
            search={{ view: 'answer' }}
            className="block truncate font-medium after:absolute after:inset-0"
          >
            {name}
          </Link>
        )}
        <div className="flex min-w-0 gap-x-2.5 text-faint text-xs">
          <bdi className="tabular shrink-0">#{number}</bdi>
          {repository && <span className="truncate">{visible(repository)}</span>}
          <span className="truncate font-mono text-2xs max-sm:hidden">
            {visible(head_branch)} → {visible(base_branch)}
          </span>
        </div>
      </div>
      <Checks summary={pull_request.checks} />
      <span className="tabular text-right text-xs max-md:hidden">
        <span className="text-ok">+{additions}</span> <span className="text-bad">−{deletions}</span>
      </span>
      <dl className="tabular text-right text-xs max-md:hidden">
        <Created at={created_at} now={now} />
      </dl>
    </li>
  )
}

const outcomes = {
  success: { Icon: CircleCheck, style: 'text-ok', text: 'Checks passed' },
  failure: { Icon: CircleX, style: 'text-bad', text: null },
  pending: { Icon: CircleDashed, style: 'text-warn', text: 'Checks running' },
} as const

function Checks({ summary: { state, failed } }: { summary: PullRequest['checks'] }) {
  if (state === 'none') return <span className="text-faint text-xs max-md:text-right">No checks</span>
  const { Icon, style, text } = outcomes[state]
  return (
    <span className={`flex items-center gap-1.5 text-xs max-md:justify-end ${style}`}>
      <Icon aria-hidden className="size-3.5 shrink-0" /> {text ?? `${plural(failed, 'check')} failing`}
    </span>
  )
}
