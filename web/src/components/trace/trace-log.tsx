import { useSearch } from '@tanstack/react-router'
import { ListX, Sprout } from 'lucide-react'
import { lazy, type RefObject, Suspense, useRef, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { visible } from '../../text/visible.ts'
import type { Trace } from '../../trace/live-trace.ts'
import type { LogSearch } from '../../trace/search/log-search.ts'
import { createFeedView } from '../../trace/timeline/feed-view.ts'
import { Button } from '../../ui/button.tsx'
import { useMedia } from '../../ui/media.ts'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { FollowUp } from '../runs/follow-up.tsx'
import { Feed } from './feed.tsx'
import { FeedToolbar } from './feed-toolbar.tsx'
import { SearchField } from './search/search-field.tsx'
import { useLogSearch, useSearchSteps } from './search/use-log-search.ts'
import { FeedFrame } from './timeline/feed-frame.tsx'
import { useOutline } from './timeline/use-outline.ts'
import { useEntryAddress } from './use-entry-address.ts'
import { useEntrySeq } from './use-entry-seq.ts'
import { useErrorJump } from './use-error-jump.ts'
import type { FeedHandle } from './use-feed-handle.ts'
import { useEntries } from './use-trace.ts'
import { useTraceKeys } from './use-trace-keys.ts'

const HitList = lazy(() => import('./search/hit-list.tsx').catch(() => ({ default: NotLoaded })))

type Props = { run: AgentRun; trace: Trace; feed: RefObject<FeedHandle | null> }

/**
 * Search, entries and follow-up box of a run. A search lists its matches, and each leads to the entry in the
 * whole trace.
 */
export function TraceLog({ run, trace, feed }: Props) {
  const { type, failed, q } = useSearch({ from: '/app/agent/trace/$id' })
  const seq = useEntrySeq()
  const search = useLogSearch(trace, q, { message_type: type, failed })
  const listed = q !== undefined && seq === 0
  const filter = q === undefined ? { message_type: type, failed } : {}
  const pages = useEntries(trace, filter)
  const filtered = pages !== trace.pages
  const search_box = useRef<HTMLInputElement>(null)
  const last_seq = useRef(seq)
  if (seq > 0) last_seq.current = seq
  const address = useEntryAddress({ seq, shown: listed ? 'matches' : filtered ? 'filtered' : 'all', feed })
  const { notice, toError } = useErrorJump(run, feed, q, address.go)
  const steps = useSearchSteps(search, seq, feed, match => {
    // The keys of the page lead on from the match that is shown.
    search_box.current?.blur()
    address.go(match)
  })
  const [view] = useState(createFeedView)
  const outline = useOutline()
  const narrow = useMedia('(max-width: 40rem)')
  const show = (index: number) => {
    if (narrow) outline.set(false)
    address.go(index + 1)
  }
  const toggleOutline = () => outline.set(!outline.open)
  useTraceKeys({
    feed,
    search_box,
    q,
    steps,
    total: pages.total,
    on_error: toError,
    on_outline: toggleOutline,
  })

  return (
    <section aria-label="Log" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <FeedToolbar
        total={q === undefined ? pages.total : null}
        outline={outline.open}
        on_outline={toggleOutline}
      >
        <SearchField
          box={search_box}
          q={q}
          search={search}
          seq={seq}
          steps={steps}
          on_leave={() => feed.current?.focus()}
        />
      </FeedToolbar>
      <Problem
        error={pages.problem ?? search?.problem ?? null}
        retry={() => (pages.problem === null ? search?.retry() : pages.retry())}
      />
      {notice && (
        <p role="status" className="border-line border-b bg-surface px-3 py-1 text-muted text-xs">
          {notice}
        </p>
      )}
      <FeedFrame
        agent_run_id={run.id}
        trace={trace}
        view={view}
        outline={outline.open}
        whole={!listed && !filtered}
        on_show={show}
        on_scroll={index => feed.current?.scroll_to(index)}
      >
        {listed ? (
          <Matches search={search} near={last_seq.current} />
        ) : (
          <Entries trace={trace} pages={pages} filtered={filtered}>
            <Feed
              key={`${filter.message_type ?? ''} ${filter.failed ?? ''}`}
              ref={feed}
              pages={pages}
              work={filtered ? null : trace.work}
              target={!filtered && seq > 0 && seq <= pages.total ? seq - 1 : null}
              begin={filtered ? 'start' : 'end'}
              q={q}
              on_step={address.step}
              view={view}
            />
          </Entries>
        )}
      </FeedFrame>
      <FollowUp run={run} />
    </section>
  )
}

/** The list of matches, empty until the first one is found. `near`: the entry that was shown last. */
const Matches = ({ search, near }: { search: LogSearch | null; near: number }) => (
  <div className="min-h-0 flex-1">
    <Suspense fallback={<Loading label="Searching" />}>
      {search !== null && search.seqs.length > 0 && <HitList search={search} near={near} />}
    </Suspense>
    {search?.complete && search.seqs.length === 0 && <Blank icon={<ListX />} title="No entry matches" />}
  </div>
)

type EntriesProps = { trace: Trace; pages: Trace['pages']; filtered: boolean; children: React.ReactNode }

/** The feed, or why there are no entries. */
function Entries({ trace, pages, filtered, children }: EntriesProps) {
  if (pages.total > 0 || (!filtered && trace.work.tools.length > 0)) return children
  if (!filtered) {
    return (
      <div className="flex-1">
        <Blank icon={<Sprout />} title="The run has not started yet">
          Entries appear here as the agent works.
        </Blank>
      </div>
    )
  }
  if (pages.ready) return <Blank icon={<ListX />} title="No entry matches" />
  return pages.problem === null && <Loading label="Searching" />
}

function Problem({ error, retry }: { error: unknown; retry: () => void }) {
  if (error === null) return null
  return (
    <div className="p-2">
      <Notice tone="bad" action={<Button onClick={retry}>Try again</Button>}>
        {visible(error instanceof Error ? error.message : String(error))}
      </Notice>
    </div>
  )
}
