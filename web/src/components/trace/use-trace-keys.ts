import type { RefObject } from 'react'
import type { SearchSteps } from './search/use-log-search.ts'
import type { FeedHandle } from './use-feed-handle.ts'
import { useFeedKeys } from './use-feed-keys.ts'

type Options = {
  feed: RefObject<FeedHandle | null>
  search_box: RefObject<HTMLInputElement | null>
  q: string | undefined
  steps: SearchSteps
  /** The number of entries that the feed shows. */
  total: number
  on_error: (direction: 'next' | 'previous') => void
  on_outline: () => void
}

/** What the keys of the trace page do. */
export function useTraceKeys({ feed, search_box, q, steps, total, on_error, on_outline }: Options): void {
  useFeedKeys({
    next: () => feed.current?.step(1),
    previous: () => feed.current?.step(-1),
    first: () => feed.current?.step(-total),
    last: () => feed.current?.step(total),
    toggle: () => feed.current?.toggle(),
    follow: () => feed.current?.follow(),
    next_error: () => on_error('next'),
    previous_error: () => on_error('previous'),
    next_match: () => q !== undefined && steps.go('next', q),
    previous_match: () => q !== undefined && steps.go('previous', q),
    search() {
      search_box.current?.focus()
      search_box.current?.select()
    },
    follow_up: () => document.querySelector<HTMLElement>('form[aria-label="Follow-up"] textarea')?.focus(),
    outline: on_outline,
    escape() {
      if (!leftControl() && q !== undefined) steps.change(undefined)
    },
  })
}

/** Moves the focus from a control of an entry to the entry. Returns whether there was one. */
function leftControl(): boolean {
  const focused = document.activeElement
  const article = focused?.closest<HTMLElement>('[role=feed] article')
  if (!article || article === focused) return false
  article.focus()
  return true
}
