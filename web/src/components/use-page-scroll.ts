import { useLocation, useRouter } from '@tanstack/react-router'
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { readTabStorage, writeTabStorage } from '../ui/tab-storage.ts'

const KEY = 'scroll-positions'
const MAX_POSITIONS = 100

/** Scroll positions by entry of the tab's history, kept over a reload. */
const positions = new Map([readTabStorage(KEY)].flat().filter(isPosition))

function isPosition(item: unknown): item is [string, number] {
  return (
    Array.isArray(item) && item.length === 2 && typeof item[0] === 'string' && typeof item[1] === 'number'
  )
}

window.addEventListener('pagehide', () => writeTabStorage(KEY, [...positions].slice(-MAX_POSITIONS)))

/**
 * Restores the scroll position of a page after Back, Forward and a reload, also when its content grows as it
 * is loaded. The person's own scrolling ends the attempt.
 */
export function usePageScroll(box: RefObject<HTMLElement | null>): void {
  const key = useLocation({ select: ({ state }) => state.__TSR_key ?? '' })
  const router = useRouter()
  const restoring = useRef(false)
  useLayoutEffect(() => {
    const element = box.current
    const wanted = positions.get(key)
    if (!element || !wanted) return
    restoring.current = true
    const attempt = new AbortController()
    const { signal } = attempt
    const restore = () => {
      element.scrollTop = wanted
      if (element.scrollTop >= Math.floor(wanted)) attempt.abort()
    }
    const observer = new ResizeObserver(restore)
    signal.addEventListener('abort', () => {
      restoring.current = false
      observer.disconnect()
    })
    for (const name of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
      element.addEventListener(name, () => attempt.abort(), { signal })
    for (const child of element.children) observer.observe(child)
    restore()
    return () => attempt.abort()
  }, [box, key])
  useEffect(() => {
    const element = box.current
    if (!element) return
    const keep = () => {
      if (!restoring.current) positions.set(key, element.scrollTop)
    }
    element.addEventListener('scroll', keep, { passive: true })
    // What scrolled in the same frame, as a link does that gets the focus, has not reported it yet.
    const stop = router.subscribe('onBeforeNavigate', keep)
    return () => {
      stop()
      element.removeEventListener('scroll', keep)
    }
  }, [box, key, router])
}
