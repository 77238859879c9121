import { useSingleKeys } from '../../ui/single-keys.ts'

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
const keys_of_entries: Record<string, keyof FeedKeys> = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  Home: 'first',
  End: 'last',
}

/** Single keys of the trace page. */
export function useFeedKeys(actions: FeedKeys): void {
  useSingleKeys((key, target) => {
    const action = keys[key] ?? (target?.matches('[role=feed], article') ? keys_of_entries[key] : undefined)
    // Enter on a button or link activates it.
    if (!action || (key === 'Enter' && target?.closest('button, a, summary, [role=tab]'))) return undefined
    return actions[action]
  })
}
