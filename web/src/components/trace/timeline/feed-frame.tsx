import { lazy, type ReactNode, Suspense } from 'react'
import type { Trace } from '../../../trace/live-trace.ts'
import type { FeedViewStore } from '../../../trace/timeline/feed-view.ts'
import { NotLoaded } from '../../not-loaded.tsx'
import { Minimap } from './minimap.tsx'
import { useTimeline } from './use-timeline.ts'

const Outline = lazy(() => import('./outline.tsx').catch(() => ({ default: NotLoaded })))

type Props = {
  agent_run_id: number
  trace: Trace
  view: FeedViewStore
  /** Whether the outline is open. */
  outline: boolean
  /** Whether the feed has all entries, so that positions in it are positions in the trace. */
  whole: boolean
  /** Selects the entry at this index and opens it. */
  on_show: (index: number) => void
  /** Scrolls to the entry at this index. */
  on_scroll: (index: number) => void
  children: ReactNode
}

/** The feed between its outline and its minimap. */
export function FeedFrame({
  agent_run_id,
  trace,
  view,
  outline,
  whole,
  on_show,
  on_scroll,
  children,
}: Props) {
  const { total } = trace.pages
  const timeline = useTimeline(agent_run_id, total)
  return (
    <div className="flex min-h-0 flex-1">
      {outline && (
        <div
          data-outline
          className="w-60 shrink-0 border-line border-r bg-canvas max-sm:w-full max-2xl:sm:w-50"
        >
          <Suspense>
            {timeline && <Outline timeline={timeline} pages={trace.pages} view={view} on_jump={on_show} />}
          </Suspense>
        </div>
      )}
      <div
        id="trace-entries"
        className={`flex min-h-0 min-w-0 flex-1 flex-col ${outline ? 'max-sm:hidden' : ''}`}
      >
        {children}
      </div>
      {whole && timeline && total > 0 && (
        <Minimap timeline={timeline} total={total} view={view} on_jump={on_scroll} />
      )}
    </div>
  )
}
