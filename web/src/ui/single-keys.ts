import { useEffect, useRef } from 'react'

/**
 * Returns whether a key goes into a field. The browser leaves the focus in the field of a dialog that has
 * just closed until the next frame: nobody types there.
 */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable]') !== null &&
  target.closest('dialog:not([open])') === null

/**
 * Calls what `actionOf` returns for a key that is pressed alone. Nothing happens while something is typed, a
 * dialog is open, or another listener has handled the key.
 */
export function useSingleKeys(
  actionOf: (key: string, target: Element | null) => (() => void) | undefined,
): void {
  const latest = useRef(actionOf)
  latest.current = actionOf
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target instanceof Element ? event.target : null
      if (isTyping(target) || document.querySelector('dialog[open]')) return
      const action = latest.current(event.key, target)
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
