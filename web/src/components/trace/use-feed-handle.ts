import { type RefObject, useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react'
import type { LogPages } from '../../trace/log-pages.ts'
import type { Reveal } from './search/use-highlight.ts'
import type { FeedScrolling } from './use-feed-scroll.ts'

export type FeedHandle = {
  /** Moves by entries from the selected one, or from the visible ones. */
  step: (by: number) => void
  toggle: () => void
  follow: () => void
  /** Brings the entry at this position into view, opens and selects it. */
  show: (index: number) => void
  /** Brings the entry at this position into view. */
  scroll_to: (index: number) => void
  /** Moves the focus to the selected entry, or to the first visible one. */
  focus: () => void
  current_seq: () => number | null
  /**
   * The `seq` after or before which the next or previous entry is: that of the selected one, otherwise next
   * to the visible ones.
   */
  seq_from: (direction: 'next' | 'previous') => number
}

type Options = {
  pages: LogPages
  /** The index of the entry that is shown first, opened and focused. */
  target: number | null
  current: number | null
  setCurrent: (index: number | null) => void
  /** Called with the index of an entry that a key has selected. */
  on_step: (index: number) => void
  /** Shows the match in the entry that is brought into view. */
  reveal: Reveal
}

/**
 * What the keys and the toolbar do with the entries: select, open, move, follow the end. Returns which ones
 * are open.
 */
export function useFeedHandle(ref: RefObject<FeedHandle | null>, scrolling: FeedScrolling, options: Options) {
  const { pages, target, current, setCurrent, on_step, reveal } = options
  const { virtualizer, visible_range, follow, pin, unpin, focus, focusEntry } = scrolling
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map())
  const toggle = useCallback(
    (index: number) => setToggled(old => new Map(old).set(index, !old.get(index))),
    [],
  )
  const show = useCallback(
    (index: number) => {
      follow.set(false)
      setCurrent(index)
      setToggled(old => new Map(old).set(index, true))
      pin(index)
      reveal(index)
      focus.current = index
    },
    [follow.set, setCurrent, pin, reveal, focus],
  )
  /** The entry that `step` has selected: when the address names it, nothing must be shown. */
  const stepped_to = useRef<number | null>(null)
  useEffect(() => {
    const is_step = target === stepped_to.current
    stepped_to.current = null
    if (target !== null && !is_step) show(target)
  }, [target, show])
  const release = () => {
    unpin()
    reveal(null)
  }
  const toEnd = () => {
    release()
    setCurrent(null)
    follow.set(true)
  }
  useImperativeHandle(ref, () => ({
    step(by) {
      const from = current ?? (by > 0 ? visible_range.first - 1 : visible_range.last + 1)
      const index = Math.min(Math.max(0, from + by), pages.total - 1)
      if (index < 0) return
      follow.set(false)
      release()
      setCurrent(index)
      focus.current = index
      stepped_to.current = index
      virtualizer.scrollToIndex(index, { align: 'auto' })
      on_step(index)
    },
    toggle: () => current !== null && toggle(current),
    follow: toEnd,
    show,
    scroll_to(index) {
      follow.set(false)
      release()
      virtualizer.scrollToIndex(index, { align: 'center' })
    },
    focus: () => focusEntry(current ?? visible_range.first),
    current_seq: () => (current === null ? null : (pages.at(current)?.seq ?? null)),
    seq_from(direction) {
      const seqAt = (index: number) => pages.at(Math.min(index, pages.total - 1))?.seq ?? index + 1
      if (current !== null) return seqAt(current)
      if (follow.on) return seqAt(pages.total - 1) + (direction === 'next' ? 0 : 1)
      return direction === 'next' ? seqAt(visible_range.first) - 1 : seqAt(visible_range.last) + 1
    },
  }))
  return { toggled, toggle, toEnd }
}
