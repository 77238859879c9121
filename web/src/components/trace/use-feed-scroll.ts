import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { LogPages } from '../../trace/log-pages.ts'
import { useFollow } from './use-stick-to-end.ts'

type Box = RefObject<HTMLDivElement | null>
type FeedVirtualizer = Virtualizer<HTMLDivElement, Element>

/**
 * Of a row of one line. An estimate that holds costs nothing: for another height, the list computes the
 * positions of all later rows.
 */
const ROW_PX = 37
const ROWS_AHEAD = 12

type Options = {
  pages: LogPages
  live_rows: number
  selected: number | null
  target: number | null
  begin: 'start' | 'end'
}

export type FeedScrolling = ReturnType<typeof useFeedScrolling>

/**
 * The scrolling box of a feed: its rendered rows, what it follows or keeps in view. Loads the entries around
 * the visible ones.
 */
export function useFeedScrolling({ pages, live_rows, selected, target, begin }: Options) {
  const box = useRef<HTMLDivElement>(null)
  const count = pages.total + live_rows
  const virtualizer = useFeedVirtualizer(box, {
    count,
    total: pages.total,
    selected,
    first: target ?? (begin === 'end' ? count : 0),
  })
  const size = virtualizer.getTotalSize()
  const follow = useFollow(box, target === null && begin === 'end', size, () => virtualizer.scrollToEnd())
  const { pin, unpin } = usePinnedEntry(virtualizer, size)
  const focus = useEntryFocus(box)
  const focusEntry = (index: number) => articleAt(box, index)?.focus({ preventScroll: true })
  const visible_range = { first: virtualizer.range?.startIndex ?? 0, last: virtualizer.range?.endIndex ?? 0 }
  const items = virtualizer.getVirtualItems()
  useEffect(() => {
    // Before the box is measured there is no range, and the first page must not be loaded for it.
    if (items.length > 0)
      pages.want(visible_range.first - ROWS_AHEAD, Math.min(visible_range.last + ROWS_AHEAD, pages.total - 1))
  })
  return { box, virtualizer, items, size, visible_range, follow, pin, unpin, focus, focusEntry }
}

/**
 * The virtual list of `total` entries and the live rows after them. `selected`: the index of the selected
 * entry.
 */
function useFeedVirtualizer(
  box: Box,
  rows: { count: number; total: number; selected: number | null; first: number },
): FeedVirtualizer {
  const { count, total, selected, first } = rows
  // Another function would have the position of each entry computed in each frame.
  const getItemKey = useCallback(
    (index: number) => (index < total ? index : `live-${index - total}`),
    [total],
  )
  return useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
    initialOffset: () => first * ROW_PX,
    getItemKey,
    // The selected entry stays in the document, so that it keeps the focus when it is scrolled away.
    rangeExtractor: range => {
      const shown = defaultRangeExtractor(range)
      const kept = selected !== null && selected < total && !shown.includes(selected) ? [selected] : []
      return [...shown, ...kept].sort((a, b) => a - b)
    },
  })
}

/** Keeps a requested entry at the top while it and its neighbours are loaded and measured, until `unpin`. */
function usePinnedEntry(virtualizer: FeedVirtualizer, size: number) {
  const pinned = useRef<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the measured sizes are what this reacts to
  useLayoutEffect(() => {
    if (pinned.current !== null) virtualizer.scrollToIndex(pinned.current, { align: 'start' })
  }, [size, virtualizer])
  return useMemo(
    () => ({
      pin(index: number) {
        virtualizer.scrollToIndex(index, { align: 'start' })
        pinned.current = index
      },
      unpin() {
        pinned.current = null
      },
    }),
    [virtualizer],
  )
}

const articleAt = (box: Box, index: number) =>
  box.current?.querySelector<HTMLElement>(`[data-index="${index}"] > article`)

/**
 * Focuses the entry whose index was assigned to the result, once it is in the document. Who types keeps the
 * focus.
 */
function useEntryFocus(box: Box): RefObject<number | null> {
  const wanted = useRef<number | null>(null)
  useEffect(() => {
    const element = wanted.current === null ? null : articleAt(box, wanted.current)
    if (!element) return
    wanted.current = null
    if (document.activeElement?.matches('input, textarea')) return
    element.focus({ preventScroll: true })
  })
  return wanted
}
