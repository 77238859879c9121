import { type RefObject, useCallback, useEffect, useRef } from 'react'
import type { Highlighter } from './highlight.ts'

/** Shows the first match in the entry at this index; null: no longer. */
export type Reveal = (index: number | null) => void

/**
 * Highlights a text in the entries of a feed. Returns a function that scrolls to the match in an entry, as
 * soon as it is rendered, and keeps it in view while the entry changes its size. `on_reveal` is called before
 * that. Without support by the browser nothing is highlighted.
 */
export function useHighlight(
  box: RefObject<HTMLElement | null>,
  q: string | undefined,
  on_reveal: () => void,
): Reveal {
  const highlighter = useRef<Highlighter>(undefined)
  const wanted = useRef<number | null>(null)
  const latest = useRef(on_reveal)
  latest.current = on_reveal
  useEffect(() => {
    const element = box.current
    if (q === undefined || element === null || !('highlights' in CSS)) return
    let ended = false
    void import('./highlight.ts').then(
      ({ highlight }) => {
        if (ended) return
        highlighter.current = highlight(element, q, () => latest.current())
        highlighter.current.reveal(wanted.current)
      },
      () => {},
    )
    return () => {
      ended = true
      highlighter.current?.stop()
      highlighter.current = undefined
    }
  }, [box, q])
  return useCallback(index => {
    wanted.current = index
    highlighter.current?.reveal(index)
  }, [])
}
