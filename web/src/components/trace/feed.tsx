import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { type RefObject, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react'
import type { LiveWork } from '../../trace/live-work.ts'
import type { LogPages } from '../../trace/log-pages.ts'
import { Button } from '../../ui/button.tsx'
import { EntryCard } from './entry-card.tsx'
import { LiveNotice, LiveText, LiveToolCard } from './live-cards.tsx'
import { useFollow } from './use-follow.ts'

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

const row_px = 64
const rows_ahead = 20

/** The entries of a run. Only visible ones are rendered. */
export function Feed({ ref, pages, work, target, begin }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const focus = useRef<number | null>(null)
  const seen_total = useRef(pages.total)
  const [current, setCurrent] = useState<number | null>(null)
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map())
  const live = work
    ? [...(work.limits.length > 0 ? (['notice'] as const) : []), ...(work.text || work.reasoning ? (['text'] as const) : []), ...work.tools]
    : []
  const count = pages.total + live.length

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => row_px,
    overscan: 4,
    initialOffset: () => (target ?? (begin === 'end' ? count : 0)) * row_px,
    getItemKey: index => (index < pages.total ? index : `live-${index - pages.total}`),
    // The selected entry stays in the document, so that it keeps the focus when it is scrolled away.
    rangeExtractor: range => {
      const shown = defaultRangeExtractor(range)
      const kept = current !== null && current < pages.total && !shown.includes(current) ? [current] : []
      return [...shown, ...kept].sort((a, b) => a - b)
    },
  })
  const size = virtualizer.getTotalSize()
  const follow = useFollow(box, target === null && begin === 'end', size)
  if (follow.on) seen_total.current = pages.total

  const items = virtualizer.getVirtualItems()
  const [first, last] = [virtualizer.range?.startIndex ?? 0, virtualizer.range?.endIndex ?? 0]
  useEffect(() => {
    if (items.length) pages.want(first - rows_ahead, Math.min(last + rows_ahead, pages.total - 1))
  })

  // The requested entry stays at the top while it and its neighbours are loaded and measured, until the user scrolls.
  const pinned = useRef<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the measured sizes are what this reacts to
  useLayoutEffect(() => {
    if (pinned.current !== null) virtualizer.scrollToIndex(pinned.current, { align: 'start' })
  }, [size, virtualizer])
  const unpin = () => {
    pinned.current = null
  }

  const show = useCallback(
    (index: number) => {
      follow.set(false)
      setCurrent(index)
      setToggled(old => new Map(old).set(index, true))
      virtualizer.scrollToIndex(index, { align: 'start' })
      pinned.current = index
      focus.current = index
    },
    [follow.set, virtualizer],
  )
  useEffect(() => {
    if (target !== null) show(target)
  }, [target, show])

  useEffect(() => {
    const element = focus.current === null ? null : box.current?.querySelector<HTMLElement>(`[data-index="${focus.current}"] > article`)
    if (!element) return
    focus.current = null
    element.focus({ preventScroll: true })
  })

  const toggle = useCallback((index: number) => setToggled(old => new Map(old).set(index, !old.get(index))), [])
  useImperativeHandle(ref, () => ({
    step(by) {
      const from = current ?? (by > 0 ? first - 1 : last + 1)
      const index = Math.min(Math.max(0, from + by), pages.total - 1)
      if (index < 0) return
      follow.set(false)
      unpin()
      setCurrent(index)
      focus.current = index
      virtualizer.scrollToIndex(index, { align: 'auto' })
    },
    toggle() {
      if (current !== null) toggle(current)
    },
    follow: toEnd,
    show,
    current_seq: () => (current === null ? null : (pages.at(current)?.seq ?? null)),
  }))

  function toEnd() {
    unpin()
    follow.set(true)
  }
  const fresh = pages.total - seen_total.current
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="feed"
        onWheel={unpin}
        onTouchMove={unpin}
        onPointerDown={unpin}
        onKeyDown={unpin}
        aria-label="Trace"
        aria-busy={!pages.ready && pages.total > 0}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden [overflow-anchor:none] outline-offset-[-2px]"
      >
        <div style={{ height: size }} className="relative w-full">
          {items.map(item => (
            <div
              key={item.key}
              data-index={item.index}
              ref={virtualizer.measureElement}
              className="absolute top-0 left-0 w-full border-line/60 border-b"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {row(item.index)}
            </div>
          ))}
        </div>
      </div>
      {!follow.on && (
        <Button className="absolute right-4 bottom-3 rounded-full! shadow-md" onClick={toEnd}>
          <ArrowDown aria-hidden className="size-3.5" /> {fresh > 0 ? `${fresh.toLocaleString('en')} new` : 'To the end'}
        </Button>
      )}
    </div>
  )

  function row(index: number) {
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
        on_toggle={toggle}
        on_select={setCurrent}
      />
    )
  }
}

const Placeholder = ({ position }: { position: number }) => (
  <div className="flex h-16 items-center gap-2.5 px-3" aria-hidden>
    <span className="size-4 rounded bg-hover" />
    <span className="h-3 w-1/3 rounded bg-hover" />
    <span className="tabular ml-auto text-2xs text-faint">{position}</span>
  </div>
)
