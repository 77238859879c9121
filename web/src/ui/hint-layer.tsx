import { useEffect, useLayoutEffect, useRef, useState } from 'react'

type ShownHint = { text: string; anchor: Element }

const delay_ms = 350
const gap_px = 6

/**
 * Shows the `data-hint` of the element under the pointer or with the keyboard focus. One layer for the whole
 * page: nothing can clip it. Assistive technology reads the same text from `aria-label` or `aria-description`
 * of the element itself.
 */
export function HintLayer() {
  const [shown, setShown] = useState<ShownHint | null>(null)
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const show = (event: Event, wait_ms: number) => {
      clearTimeout(timer)
      const anchor = event.target instanceof Element ? event.target.closest('[data-hint]') : null
      const text = anchor?.getAttribute('data-hint')
      if (!anchor || !text) return setShown(null)
      timer = setTimeout(() => setShown({ text, anchor }), wait_ms)
    }
    const onPointer = (event: Event) => show(event, delay_ms)
    const onFocus = (event: Event) => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) show(event, 0)
    }
    const hide = () => {
      clearTimeout(timer)
      setShown(null)
    }
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && hide()
    const listeners = {
      pointerover: onPointer,
      focusin: onFocus,
      focusout: hide,
      pointerdown: hide,
      scroll: hide,
    } as const
    for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener, true)
    document.addEventListener('keydown', onKey)
    return () => {
      clearTimeout(timer)
      for (const [name, listener] of Object.entries(listeners))
        document.removeEventListener(name, listener, true)
      document.removeEventListener('keydown', onKey)
    }
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (!shown || !element) return
    const at = shown.anchor.getBoundingClientRect()
    const { width, height } = element.getBoundingClientRect()
    const below = at.bottom + gap_px + height < innerHeight
    element.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, at.left + at.width / 2 - width / 2))}px`
    element.style.top = `${below ? at.bottom + gap_px : at.top - gap_px - height}px`
  }, [shown])

  if (!shown) return null
  return (
    <div
      ref={box}
      aria-hidden
      className="pointer-events-none fixed z-50 max-w-72 rounded-md bg-ink px-2 py-1 text-canvas text-xs shadow-lg [overflow-wrap:anywhere]"
    >
      {shown.text}
    </div>
  )
}
