import { memo, useEffect, useMemo } from 'react'
import type { LogEntry } from '../../../../../src/contract/runs/logs.ts'
import type { RunTimeline } from '../../../../../src/contract/runs/timeline.ts'
import { duration, money, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { entrySummary } from '../../../trace/entry-summary.ts'
import type { LogPages } from '../../../trace/log-pages.ts'
import { shownSteps } from '../../../trace/timeline/shown-steps.ts'

type Props = {
  timeline: RunTimeline
  pages: LogPages
  span: { from_seq: number; through_seq: number }
  /** The entry that the feed shows. */
  seq: number
  on_jump: (index: number) => void
}

/** The entries of a section around the current one, one line each. */
export function OutlineSteps({ timeline, pages, span, seq, on_jump }: Props) {
  const { from, through } = shownSteps(span, seq)
  const costs = useMemo(() => costsOf(timeline), [timeline])
  useEffect(() => pages.want(from - 1, through - 1))
  const rest = (count: number, where: string) =>
    count > 0 && (
      <li className="py-0.5 pl-9 text-2xs text-faint">{`${plural(count, 'entry', 'entries')} ${where}`}</li>
    )
  return (
    <>
      {rest(from - span.from_seq, 'before')}
      {Array.from({ length: through - from + 1 }, (_, offset) => from + offset).map(number => (
        <Step
          key={number}
          seq={number}
          entry={pages.at(number - 1)}
          cost_usd={costs.get(number)}
          here={number === seq}
          on_jump={on_jump}
        />
      ))}
      {rest(span.through_seq - through, 'after')}
    </>
  )
}

/**
 * What was spent before single entries. The cost of a part of several entries is only shown with its section.
 */
const costsOf = ({ parts }: RunTimeline) =>
  new Map(
    parts
      .filter(part => part.from_seq === part.through_seq && Number(part.cost_usd) > 0)
      .map(part => [part.from_seq, part.cost_usd]),
  )

type StepProps = {
  seq: number
  entry: LogEntry | undefined
  cost_usd: string | null | undefined
  here: boolean
  on_jump: (index: number) => void
}

const Step = memo(function Step({ seq, entry, cost_usd, here, on_jump }: StepProps) {
  const summary = entry && entrySummary(entry)
  const tone = summary?.tone === 'bad' ? 'text-bad' : here ? 'text-accent' : 'text-muted'
  return (
    <li>
      <button
        type="button"
        aria-current={here ? 'step' : undefined}
        onClick={() => on_jump(seq - 1)}
        className={`flex min-h-6 w-full items-center gap-1.5 pr-2 pl-9 text-left hover:bg-hover ${here ? 'bg-accent/8' : ''} ${tone}`}
      >
        <span className="shrink-0">{summary ? visible(summary.label) : '…'}</span>
        <span className="min-w-0 flex-1 truncate text-2xs text-faint">{summary?.line}</span>
        <span className="tabular shrink-0 text-2xs text-faint">
          {entry?.duration_ms != null && entry.duration_ms >= 100 && duration(entry.duration_ms)}
          {cost_usd != null && ` ${money(cost_usd)}`}
        </span>
      </button>
    </li>
  )
})
