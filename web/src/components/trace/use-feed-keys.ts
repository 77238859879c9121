import { useEffect, useRef } from 'react'

type FeedKeys = {
  next: () => void
  previous: () => void
  first: () => void
  last: () => void
  toggle: () => void
  next_error: () => void
  previous_error: () => void
  next_match: () => void
  previous_match: () => void
  follow: () => void
  search: () => void
  follow_up: () => void
  outline: () => void
  escape: () => void
}

const keys: Record<string, keyof FeedKeys> = {
  j: 'next',
  k: 'previous',
  o: 'toggle',
  Enter: 'toggle',
  e: 'next_error',
  E: 'previous_error',
  n: 'next_match',
  N: 'previous_match',
  f: 'follow',
  i: 'follow_up',
  l: 'outline',
  '/': 'search',
  Escape: 'escape',
}

/** Keys that move or scroll anywhere else. They move through the entries while one of them has the focus. */
const keys_of_entries: Record<string, keyof FeedKeys> = { ArrowDown: 'next', ArrowUp: 'previous', Home: 'first', End: 'last' }

/** Single keys of the trace page. They do nothing while something is typed, a dialog is open, or a control has the focus. */
export function useFeedKeys(actions: FeedKeys): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target instanceof Element ? event.target : null
      const action = keys[event.key] ?? (target?.matches('[role=feed], article') ? keys_of_entries[event.key] : undefined)
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
