import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef } from 'react'

type Box = RefObject<HTMLDivElement | null>
type FeedVirtualizer = Virtualizer<HTMLDivElement, Element>

export const ROW_PX = 64

/** The virtual list of `total` entries and the live rows after them. `selected`: the index of the selected entry. */
export function useFeedVirtualizer(
  box: Box,
  rows: { count: number; total: number; selected: number | null; first: number },
): FeedVirtualizer {
  const { count, total, selected, first } = rows
  return useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
    initialOffset: () => first * ROW_PX,
    getItemKey: index => (index < total ? index : `live-${index - total}`),
    // The selected entry stays in the document, so that it keeps the focus when it is scrolled away.
    rangeExtractor: range => {
      const shown = defaultRangeExtractor(range)
      const kept = selected !== null && selected < total && !shown.includes(selected) ? [selected] : []
      return [...shown, ...kept].sort((a, b) => a - b)
    },
  })
}

/** Keeps a requested entry at the top while it and its neighbours are loaded and measured, until `unpin`. */
export function usePinnedEntry(virtualizer: FeedVirtualizer, size: number) {
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

/** Focuses the entry whose index was assigned to the result, once it is in the document. */
export function useEntryFocus(box: Box): RefObject<number | null> {
  const wanted = useRef<number | null>(null)
  useEffect(() => {
    const element = wanted.current === null ? null : box.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] > article`)
    if (!element) return
    wanted.current = null
    element.focus({ preventScroll: true })
  })
  return wanted
}
