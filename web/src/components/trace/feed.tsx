import { ArrowDown } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import type { LiveTool, LiveWork } from '../../trace/live-work.ts'
import type { LogPages } from '../../trace/log-pages.ts'
import type { FeedViewStore } from '../../trace/timeline/feed-view.ts'
import { Button } from '../../ui/button.tsx'
import { EntryCard } from './entry-card.tsx'
import { LiveNotice, LiveText, LiveToolCard } from './live-cards.tsx'
import { useHighlight } from './search/use-highlight.ts'
import { useFeedFocus } from './use-feed-focus.ts'
import { type FeedHandle, useFeedHandle } from './use-feed-handle.ts'
import { useFeedScrolling } from './use-feed-scroll.ts'

type Props = {
  ref: RefObject<FeedHandle | null>
  pages: LogPages
  /** Null with a filter: live activity is not part of the matches. */
  work: LiveWork | null
  /** The entry that the address names. It is shown first, opened and focused. */
  target: number | null
  /** Where to start without a target: at the end, following it. */
  begin: 'start' | 'end'
  /** The text that is highlighted in the entries. */
  q: string | undefined
  /** Called with the index of an entry that a key has selected. */
  on_step: (index: number) => void
  /** Receives what is shown. */
  view: FeedViewStore
}

/** Successful commands before the last entries are one line. */
const OPEN_ENTRIES = 8

type LiveRow = 'notice' | 'text' | LiveTool

const liveRows = (work: LiveWork | null): LiveRow[] =>
  work === null
    ? []
    : [
        ...(work.limits.length > 0 ? (['notice'] as const) : []),
        ...(work.text || work.reasoning ? (['text'] as const) : []),
        ...work.tools,
      ]

/** The entries of a run. Only visible ones are rendered. */
export function Feed({ ref, pages, work, target, begin, q, on_step, view }: Props) {
  const seen_total = useRef(pages.total)
  const [current, setCurrent] = useState<number | null>(null)
  const live = liveRows(work)
  const scrolling = useFeedScrolling({ pages, live_rows: live.length, selected: current, target, begin })
  const { box, virtualizer, items, size, visible_range, follow, unpin } = scrolling
  if (follow.on) seen_total.current = pages.total
  const reveal = useHighlight(box, q, unpin)
  const { toggled, toggle, toEnd } = useFeedHandle(ref, scrolling, {
    pages,
    target,
    current,
    setCurrent,
    on_step,
    reveal,
  })
  const focus = useFeedFocus(box, current ?? visible_range.first)
  useEffect(() =>
    view.set({ first: visible_range.first, last: Math.min(visible_range.last, pages.total - 1), current }),
  )
  const onInteraction = () => {
    reveal(null)
    unpin()
  }
  // Fixed while somebody reads: what is on the screen must not move.
  const open_from = seen_total.current - OPEN_ENTRIES
  const row = { pages, work, live, current, toggled, open_from, on_toggle: toggle, on_select: setCurrent }
  return (
    <div className="relative min-h-0 flex-1">
      <span ref={focus.before} tabIndex={-1} />
      <FeedBox box={box} busy={!pages.ready && pages.total > 0} focus={focus} on_interaction={onInteraction}>
        <div style={{ height: size }} className="relative w-full">
          {items.map(item => (
            <div
              key={item.key}
              data-index={item.index}
              ref={virtualizer.measureElement}
              className="absolute top-0 left-0 w-full border-line/60 border-b"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <FeedRow index={item.index} {...row} />
            </div>
          ))}
        </div>
      </FeedBox>
      <span ref={focus.after} tabIndex={-1} />
      {!follow.on && <EndButton fresh={pages.total - seen_total.current} on_click={toEnd} />}
    </div>
  )
}

type BoxProps = {
  box: RefObject<HTMLDivElement | null>
  busy: boolean
  focus: ReturnType<typeof useFeedFocus>
  on_interaction: () => void
  children: ReactNode
}

/** The scrolling box. Any interaction of the user releases the pinned entry. */
const FeedBox = ({ box, busy, focus, on_interaction, children }: BoxProps) => (
  <div
    ref={box}
    role="feed"
    onWheel={on_interaction}
    onTouchMove={on_interaction}
    onPointerDown={on_interaction}
    onKeyDown={event => {
      on_interaction()
      focus.onKeyDown(event)
    }}
    onFocus={focus.onFocus}
    aria-label="Trace"
    aria-busy={busy}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
    tabIndex={0}
    className="h-full overflow-y-auto overflow-x-hidden [overflow-anchor:none] outline-offset-[-2px]"
  >
    {children}
  </div>
)

const EndButton = ({ fresh, on_click }: { fresh: number; on_click: () => void }) => (
  <Button className="absolute right-4 bottom-3 rounded-full! shadow-md" onClick={on_click}>
    <ArrowDown aria-hidden className="size-3.5" />{' '}
    {fresh > 0 ? `${fresh.toLocaleString('en')} new` : 'Jump to latest'}
  </Button>
)

type RowProps = {
  index: number
  pages: LogPages
  work: LiveWork | null
  live: LiveRow[]
  current: number | null
  toggled: ReadonlyMap<number, boolean>
  open_from: number
  on_toggle: (index: number) => void
  on_select: (index: number) => void
}

function FeedRow({ index, pages, work, live, current, toggled, open_from, on_toggle, on_select }: RowProps) {
  const now = live[index - pages.total]
  if (now === 'notice') return <LiveNotice limits={work?.limits ?? []} />
  if (now === 'text') return <LiveText reasoning={work?.reasoning ?? ''} text={work?.text ?? ''} />
  if (now) return <LiveToolCard tool={now} />
  const entry = pages.at(index)
  if (!entry) return <Placeholder position={index + 1} />
  return (
    <EntryCard
      entry={entry}
      index={index}
      size={pages.total}
      open={toggled.get(index) ?? false}
      passed={index < open_from}
      current={current === index}
      on_toggle={on_toggle}
      on_select={on_select}
    />
  )
}

const Placeholder = ({ position }: { position: number }) => (
  <div className="flex h-9 items-center gap-2.5 px-3" aria-hidden>
    <span className="size-4 rounded bg-hover" />
    <span className="h-3 w-1/3 rounded bg-hover" />
    <span className="tabular ml-auto text-2xs text-faint">{position}</span>
  </div>
)
