import { type RefObject, useEffect, useRef } from 'react'
import type { Highlighter } from './highlight.ts'

/**
 * Highlights a text in the entries of a feed, and scrolls to the match in the entry at index `target`. `on_reveal` is called before that.
 * Returns a function that cancels the scrolling. Without support by the browser nothing is highlighted.
 */
export function useHighlight(
  box: RefObject<HTMLElement | null>,
  q: string | undefined,
  target: number | null,
  on_reveal: () => void,
): () => void {
  const highlighter = useRef<Highlighter>(undefined)
  const latest = useRef({ target, on_reveal })
  latest.current = { target, on_reveal }
  useEffect(() => {
    const element = box.current
    if (q === undefined || element === null || !('highlights' in CSS)) return
    let ended = false
    void import('./highlight.ts').then(
      ({ highlight }) => {
        if (ended) return
        highlighter.current = highlight(element, q, () => latest.current.on_reveal())
        highlighter.current.reveal(latest.current.target)
      },
      () => {},
    )
    return () => {
      ended = true
      highlighter.current?.stop()
      highlighter.current = undefined
    }
  }, [box, q])
  useEffect(() => highlighter.current?.reveal(target), [target])
  return () => highlighter.current?.reveal(null)
}
