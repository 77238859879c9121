import { useLocation, useSearch } from '@tanstack/react-router'
import { ListX, Sprout } from 'lucide-react'
import { lazy, type RefObject, Suspense, useRef, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { visible } from '../../text/visible.ts'
import type { Trace } from '../../trace/open-trace.ts'
import { Button } from '../../ui/button.tsx'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { FollowUp } from '../runs/follow-up.tsx'
import { Feed } from './feed.tsx'
import { FeedToolbar } from './feed-toolbar.tsx'
import { SearchField } from './search/search-field.tsx'
import { useLogSearch, useSearchSteps } from './search/use-log-search.ts'
import { useAddressOfStep } from './use-address-of-step.ts'
import { useErrorJump } from './use-error-jump.ts'
import type { FeedHandle } from './use-feed-handle.ts'
import { useFeedKeys } from './use-feed-keys.ts'
import { useEntries } from './use-trace.ts'

const HitList = lazy(() => import('./search/hit-list.tsx').catch(() => ({ default: NotLoaded })))
const KeyboardHelp = lazy(() => import('../frame/keyboard-help.tsx').catch(() => ({ default: NotLoaded })))

type Props = { run: AgentRun; trace: Trace; feed: RefObject<FeedHandle | null> }

const seqOf = (hash: string) => Number(/^e(\d{1,9})$/.exec(hash)?.[1] ?? 0)

/** Search, entries and follow-up box of a run. A search lists its matches, and each leads to the entry in the whole trace. */
export function TraceLog({ run, trace, feed }: Props) {
  const { type, q } = useSearch({ from: '/app/agent/trace/$id' })
  const seq = useLocation({ select: location => seqOf(location.hash) })
  const search = useLogSearch(trace, q, { message_type: type })
  const listed = q !== undefined && seq === 0
  const filter = q === undefined ? type : undefined
  const pages = useEntries(trace, { message_type: filter })
  const filtered = pages !== trace.pages
  const search_box = useRef<HTMLInputElement>(null)
  const last_seq = useRef(seq)
  if (seq > 0) last_seq.current = seq
  const [help, setHelp] = useState(false)
  const { notice, toError } = useErrorJump(run, feed)
  const steps = useSearchSteps(search, seq, feed)
  const setAddress = useAddressOfStep(seq)
  useFeedKeys({
    next: () => feed.current?.step(1),
    previous: () => feed.current?.step(-1),
    first: () => feed.current?.step(-pages.total),
    last: () => feed.current?.step(pages.total),
    toggle: () => feed.current?.toggle(),
    follow: () => feed.current?.follow(),
    next_error: () => void toError('next'),
    previous_error: () => void toError('previous'),
    next_match: () => q !== undefined && steps.go('next', q),
    previous_match: () => q !== undefined && steps.go('previous', q),
    search() {
      search_box.current?.focus()
      search_box.current?.select()
    },
    follow_up: () => document.querySelector<HTMLElement>('form[aria-label="Follow-up"] textarea')?.focus(),
    escape: () => leftControl() || steps.change(undefined),
  })

  return (
    <section aria-label="Log" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <FeedToolbar total={q === undefined ? pages.total : null} on_help={() => setHelp(true)}>
        <SearchField box={search_box} q={q} search={search} seq={seq} steps={steps} />
      </FeedToolbar>
      <Problem error={pages.problem ?? search?.problem ?? null} retry={() => (pages.problem === null ? search?.retry() : pages.retry())} />
      {notice && (
        <p role="status" className="border-line border-b bg-surface px-3 py-1 text-muted text-xs">
          {notice}
        </p>
      )}
      {listed ? (
        <div className="min-h-0 flex-1">
          <Suspense fallback={<Loading label="Searching" />}>
            {search !== null && search.seqs.length > 0 && <HitList search={search} near={last_seq.current} />}
          </Suspense>
          {search?.complete && search.seqs.length === 0 && <Blank icon={<ListX />} title="No entry matches" />}
        </div>
      ) : (
        <Entries trace={trace} pages={pages} filtered={filtered}>
          <Feed
            key={filter ?? ''}
            ref={feed}
            pages={pages}
            work={filtered ? null : trace.work}
            target={!filtered && seq > 0 && seq <= pages.total ? seq - 1 : null}
            begin={filtered ? 'start' : 'end'}
            q={q}
            on_step={index => !filtered && setAddress(index)}
          />
        </Entries>
      )}
      <FollowUp run={run} />
      <Suspense>{help && <KeyboardHelp open on_close={() => setHelp(false)} />}</Suspense>
    </section>
  )
}

/** Moves the focus from a control of an entry to the entry. Returns whether there was one. */
function leftControl(): boolean {
  const focused = document.activeElement
  const article = focused?.closest<HTMLElement>('[role=feed] article')
  if (!article || article === focused) return false
  article.focus()
  return true
}

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
