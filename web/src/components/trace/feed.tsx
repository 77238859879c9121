import { ArrowDown } from 'lucide-react'
import { type ReactNode, type RefObject, useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react'
import type { LiveTool, LiveWork } from '../../trace/live-work.ts'
import type { LogPages } from '../../trace/log-pages.ts'
import { Button } from '../../ui/button.tsx'
import { EntryCard } from './entry-card.tsx'
import { LiveNotice, LiveText, LiveToolCard } from './live-cards.tsx'
import { useEntryFocus, useFeedVirtualizer, usePinnedEntry } from './use-feed-scroll.ts'
import { useFollow } from './use-stick-to-end.ts'

export type FeedHandle = {
  /** Moves by entries from the selected one, or from the visible ones. */
  step: (by: number) => void
  toggle: () => void
  follow: () => void
  /** Brings the entry at this position into view, opens and selects it. */
  show: (index: number) => void
  current_seq: () => number | null
}

type Props = {
  ref: RefObject<FeedHandle | null>
  pages: LogPages
  /** Null with a filter: live activity is not part of the matches. */
  work: LiveWork | null
  /** The entry that the address names. It is shown first, opened and focused. */
  target: number | null
  /** Where to start without a target: at the end, following it. */
  begin: 'start' | 'end'
}

const ROWS_AHEAD = 20

type LiveRow = 'notice' | 'text' | LiveTool

const liveRows = (work: LiveWork | null): LiveRow[] =>
  work === null
    ? []
    : [...(work.limits.length > 0 ? (['notice'] as const) : []), ...(work.text || work.reasoning ? (['text'] as const) : []), ...work.tools]

/** The entries of a run. Only visible ones are rendered. */
export function Feed({ ref, pages, work, target, begin }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const seen_total = useRef(pages.total)
  const [current, setCurrent] = useState<number | null>(null)
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map())
  const live = liveRows(work)
  const count = pages.total + live.length

  const first = target ?? (begin === 'end' ? count : 0)
  const virtualizer = useFeedVirtualizer(box, { count, total: pages.total, selected: current, first })
  const size = virtualizer.getTotalSize()
  const follow = useFollow(box, target === null && begin === 'end', size)
  if (follow.on) seen_total.current = pages.total
  const { pin, unpin } = usePinnedEntry(virtualizer, size)
  const focus = useEntryFocus(box)
  const visible_range = { first: virtualizer.range?.startIndex ?? 0, last: virtualizer.range?.endIndex ?? 0 }
  const items = virtualizer.getVirtualItems()
  useEffect(() => {
    // Before the box is measured there is no range, and the first page must not be loaded for it.
    if (items.length > 0) pages.want(visible_range.first - ROWS_AHEAD, Math.min(visible_range.last + ROWS_AHEAD, pages.total - 1))
  })

  const toggle = useCallback((index: number) => setToggled(old => new Map(old).set(index, !old.get(index))), [])
  const show = useCallback(
    (index: number) => {
      follow.set(false)
      setCurrent(index)
      setToggled(old => new Map(old).set(index, true))
      pin(index)
      focus.current = index
    },
    [follow.set, pin, focus],
  )
  useEffect(() => {
    if (target !== null) show(target)
  }, [target, show])
  const toEnd = () => {
    unpin()
    follow.set(true)
  }
  useImperativeHandle(ref, () => ({
    step(by) {
      const from = current ?? (by > 0 ? visible_range.first - 1 : visible_range.last + 1)
      const index = Math.min(Math.max(0, from + by), pages.total - 1)
      if (index < 0) return
      follow.set(false)
      unpin()
      setCurrent(index)
      focus.current = index
      virtualizer.scrollToIndex(index, { align: 'auto' })
    },
    toggle: () => current !== null && toggle(current),
    follow: toEnd,
    show,
    current_seq: () => (current === null ? null : (pages.at(current)?.seq ?? null)),
  }))
  const row = { pages, work, live, current, toggled, on_toggle: toggle, on_select: setCurrent }
  return (
    <div className="relative min-h-0 flex-1">
      <FeedBox box={box} busy={!pages.ready && pages.total > 0} on_interaction={unpin}>
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
      {!follow.on && <EndButton fresh={pages.total - seen_total.current} on_click={toEnd} />}
    </div>
  )
}

type BoxProps = { box: RefObject<HTMLDivElement | null>; busy: boolean; on_interaction: () => void; children: ReactNode }

/** The scrolling box. Any interaction of the user releases the pinned entry. */
const FeedBox = ({ box, busy, on_interaction, children }: BoxProps) => (
  <div
    ref={box}
    role="feed"
    onWheel={on_interaction}
    onTouchMove={on_interaction}
    onPointerDown={on_interaction}
    onKeyDown={on_interaction}
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
    <ArrowDown aria-hidden className="size-3.5" /> {fresh > 0 ? `${fresh.toLocaleString('en')} new` : 'To the end'}
  </Button>
)

type RowProps = {
  index: number
  pages: LogPages
  work: LiveWork | null
  live: LiveRow[]
  current: number | null
  toggled: ReadonlyMap<number, boolean>
  on_toggle: (index: number) => void
  on_select: (index: number) => void
}

function FeedRow({ index, pages, work, live, current, toggled, on_toggle, on_select }: RowProps) {
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
      current={current === index}
      on_toggle={on_toggle}
      on_select={on_select}
    />
  )
}

const Placeholder = ({ position }: { position: number }) => (
  <div className="flex h-16 items-center gap-2.5 px-3" aria-hidden>
    <span className="size-4 rounded bg-hover" />
    <span className="h-3 w-1/3 rounded bg-hover" />
    <span className="tabular ml-auto text-2xs text-faint">{position}</span>
  </div>
)
