import { type FocusEvent, type KeyboardEvent, type RefObject, useRef } from 'react'

const controls = ['a[href]', 'button', 'input', 'select', 'textarea', 'summary', '[tabindex="0"]']
  .map(selector => `${selector}:not([tabindex="-1"], :disabled)`)
  .join()

/**
 * Makes a feed one stop of the Tab key: Tab enters it at one entry and leaves it again, and arrow keys move
 * inside. The controls of an open entry come after it. `stop`: the index of the entry that is the stop.
 * `before` and `after` are empty elements beside the box: the browser continues from them.
 */
export function useFeedFocus(box: RefObject<HTMLDivElement | null>, stop: number) {
  const before = useRef<HTMLSpanElement>(null)
  const after = useRef<HTMLSpanElement>(null)
  const focusStop = () => box.current?.querySelector<HTMLElement>(`[data-index="${stop}"] > article`)?.focus()
  const onKeyDown = (event: KeyboardEvent) => {
    if (
      event.key !== 'Tab' ||
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      !(event.target instanceof HTMLElement)
    )
      return
    const article = event.target.closest<HTMLElement>('article')
    const inner = article?.dataset.open ? [...article.querySelectorAll<HTMLElement>(controls)] : []
    if (!event.shiftKey && (inner.length === 0 || inner.at(-1) === event.target)) after.current?.focus()
    if (event.shiftKey && (article === null || article === event.target)) before.current?.focus()
    else if (event.shiftKey && !inner.slice(1).includes(event.target)) {
      event.preventDefault()
      article?.focus()
    }
  }
  const onFocus = (event: FocusEvent<HTMLElement>) => {
    const { target, relatedTarget } = event
    const from_outside = !(relatedTarget instanceof Node && box.current?.contains(relatedTarget))
    if (from_outside && target.matches(':focus-visible') && !target.matches('article')) focusStop()
  }
  return { before, after, onKeyDown, onFocus }
}
