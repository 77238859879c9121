import { CircleHelp, ThumbsDown, ThumbsUp } from 'lucide-react'
import type { PullRequestReview } from '../../../../src/contract/pull-requests/pull-requests.ts'

/** The verdict of the service on the newest commit of a pull request. */
export const reviewNames: Record<PullRequestReview, string> = {
  pass: 'Review passed',
  fail: 'Review failed',
  inconclusive: 'Inconclusive',
  none: 'No review',
}

const marks = {
  pass: [ThumbsUp, 'text-ok'],
  fail: [ThumbsDown, 'text-bad'],
  inconclusive: [CircleHelp, 'text-warn'],
} as const

export function ReviewMark({ review }: { review: PullRequestReview }) {
  if (review === 'none') return <span className="text-faint text-xs">{reviewNames.none}</span>
  const [Icon, color] = marks[review]
  return (
    <span className={`inline-flex min-w-0 items-center gap-1.5 text-xs ${color}`}>
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">{reviewNames[review]}</span>
    </span>
  )
}
