import { useNavigate, useSearch } from '@tanstack/react-router'
import { type RefObject, useEffect, useState } from 'react'
import type { LogFilter, Trace } from '../../../trace/live-trace.ts'
import { type LogSearch, matchFrom } from '../../../trace/search/log-search.ts'
import type { FeedHandle } from '../use-feed-handle.ts'

/** Searches the trace for the text of the address. Null without a text, and until the search has begun. */
export function useLogSearch(
  trace: Trace,
  q: string | undefined,
  { message_type, failed }: LogFilter,
): LogSearch | null {
  const [current, setCurrent] = useState<{ q: string; search: LogSearch } | null>(null)
  useEffect(() => {
    if (q === undefined) return
    const { search, close } = trace.search({ q, message_type, failed })
    setCurrent({ q, search })
    return () => {
      close()
      setCurrent(null)
    }
  }, [trace, q, message_type, failed])
  return current !== null && current.q === q ? current.search : null
}

export type SearchSteps = {
  /**
   * Shows the next or previous match of `q` in its context. While the first one is not found yet, as soon as
   * it is.
   */
  go: (direction: 'next' | 'previous', q: string) => void
  /** Shows the list of matches. */
  list: () => void
  /** Searches for another text; undefined ends the search. */
  change: (q: string | undefined) => void
}

/** Moves through the matches. `seq`: the entry that the address names, 0 for none. `go` shows an entry. */
export function useSearchSteps(
  search: LogSearch | null,
  seq: number,
  feed: RefObject<FeedHandle | null>,
  go: (seq: number) => void,
): SearchSteps {
  const { q } = useSearch({ from: '/app/agent/trace/$id' })
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const [wanted, setWanted] = useState<{ direction: 'next' | 'previous'; q: string } | null>(null)
  const in_context = q !== undefined && seq > 0
  const found = search?.seqs ?? []
  useEffect(() => {
    if (wanted === null || wanted.q !== q || found.length === 0) return
    setWanted(null)
    const match = matchFrom(found, in_context ? (feed.current?.current_seq() ?? seq) : 0, wanted.direction)
    if (match !== undefined) go(match)
  })
  return {
    go: (direction, text) => setWanted({ direction, q: text }),
    list: () => void navigate({ search: previous => previous, hash: '' }),
    change(next) {
      // Without a text the entry that is shown stays.
      void navigate({
        search: previous => ({ ...previous, q: next }),
        hash: next === undefined ? true : '',
        replace: true,
      })
    },
  }
}
