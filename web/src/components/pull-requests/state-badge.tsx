import { GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft } from 'lucide-react'
import type { PullRequestState } from '../../../../src/contract/pull-requests/pull-requests.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'

const states: Record<PullRequestState, { tone: BadgeTone; Icon: typeof GitPullRequest }> = {
  open: { tone: 'ok', Icon: GitPullRequest },
  draft: { tone: 'neutral', Icon: GitPullRequestDraft },
  merged: { tone: 'paused', Icon: GitMerge },
  closed: { tone: 'bad', Icon: GitPullRequestClosed },
}

/** The state of a pull request as icon, word and colour. */
export function StateBadge({ state }: { state: PullRequestState }) {
  const { tone, Icon } = states[state]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden className="size-3" /> <span data-testid="pull-request-state">{state}</span>
    </Badge>
  )
}
