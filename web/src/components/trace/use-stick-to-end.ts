import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** A distance from the end, in pixels, that counts as the end. */
const end_px = 48

type Follow = { on: boolean; set: (on: boolean) => void }

/**
 * Keeps a scrolling box at its end while following is on. Scrolling up turns it off, scrolling back to the
 * end turns it on; growth never moves the visible text. The end stays visible when the box becomes lower.
 * `size` is the height of the content, `toEnd` scrolls to its end: the virtual list does it, because it
 * corrects positions that others set while rows above are measured.
 */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  initially: boolean,
  size: number,
  toEnd: () => void,
): Follow {
  const [on, setOn] = useState(initially)
  const last_top = useRef(0)
  const latest = useRef(toEnd)
  latest.current = toEnd

  useEffect(() => {
    const element = box.current
    if (!element) return
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element
      const distance = scrollHeight - clientHeight - scrollTop
      const upwards = scrollTop < last_top.current
      last_top.current = scrollTop
      if (distance <= end_px && !upwards) setOn(true)
      else if (upwards && distance > end_px) setOn(false)
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [box])

  useEffect(() => {
    const element = box.current
    if (!on || !element) return
    // What is loaded below the box, such as the follow-up form, takes some of its height.
    const observer = new ResizeObserver(() => latest.current())
    observer.observe(element)
    return () => observer.disconnect()
  }, [box, on])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the growth of the content is what this reacts to
  useLayoutEffect(() => {
    const element = box.current
    if (!on || !element) return
    latest.current()
  }, [box, on, size])

  return { on, set: useCallback((next: boolean) => setOn(next), []) }
}
