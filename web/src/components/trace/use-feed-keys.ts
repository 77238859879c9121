import { useEffect, useRef } from 'react'

type FeedKeys = {
  next: () => void
  previous: () => void
  toggle: () => void
  next_error: () => void
  previous_error: () => void
  follow: () => void
  focus_filter: () => void
}

const keys: Record<string, keyof FeedKeys> = {
  j: 'next',
  k: 'previous',
  o: 'toggle',
  Enter: 'toggle',
  e: 'next_error',
  E: 'previous_error',
  f: 'follow',
  '/': 'focus_filter',
}

/** Single keys of the trace page. They do nothing while something is typed, a dialog is open, or a control has the focus. */
export function useFeedKeys(actions: FeedKeys): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const action = keys[event.key]
      const target = event.target instanceof Element ? event.target : null
      if (!action || document.querySelector('dialog[open]')) return
      if (target?.closest('input, textarea, select, [contenteditable]')) return
      // Enter on a button or link activates it.
      if (event.key === 'Enter' && target?.closest('button, a, summary, [role=tab]')) return
      event.preventDefault()
      latest.current[action]()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
