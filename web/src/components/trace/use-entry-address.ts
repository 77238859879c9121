import { useNavigate } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'
import type { FeedHandle } from './use-feed-handle.ts'

/** Browsers limit how often an address changes, and a held key moves 30 times a second. */
const DELAY_MS = 150

type Options = {
  /** The entry that the address names, 0 for none. */
  seq: number
  /** What the page shows: all entries, some of them, or the matches of a search. */
  shown: 'all' | 'filtered' | 'matches'
  feed: RefObject<FeedHandle | null>
}

type EntryAddress = {
  /** Shows an entry in the whole trace, and puts it into the address. */
  go: (seq: number) => void
  /** Puts the entry that a key has selected into the address. */
  step: (index: number) => void
}

/** The entry in the address of a trace. */
export function useEntryAddress({ seq, shown, feed }: Options): EntryAddress {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another entry in the address ends the step before it
  useEffect(() => () => clearTimeout(timer.current), [seq])
  return {
    go(wanted) {
      clearTimeout(timer.current)
      // The address may lag behind the keys, so that it names the entry already.
      if (wanted === seq && shown === 'all') feed.current?.show(wanted - 1)
      else
        void navigate({
          // With a text, the kind of entry restricts the search; without one, the feed.
          search: previous =>
            previous.q === undefined ? { ...previous, type: undefined, failed: undefined } : previous,
          hash: `e${wanted}`,
          replace: shown !== 'matches',
        })
    },
    step(index) {
      if (shown !== 'all') return
      clearTimeout(timer.current)
      timer.current = setTimeout(
        () => void navigate({ search: previous => previous, hash: `e${index + 1}`, replace: true }),
        DELAY_MS,
      )
    },
  }
}
