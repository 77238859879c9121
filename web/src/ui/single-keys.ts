import { useEffect, useRef } from 'react'

/**
 * Calls what `actionOf` returns for a key that is pressed alone. Nothing happens while something is typed, a dialog is open, or another
 * listener has handled the key.
 */
export function useSingleKeys(actionOf: (key: string, target: Element | null) => (() => void) | undefined): void {
  const latest = useRef(actionOf)
  latest.current = actionOf
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target instanceof Element ? event.target : null
      if (target?.closest('input, textarea, select, [contenteditable]') || document.querySelector('dialog[open]')) return
      const action = latest.current(event.key, target)
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
