import { useLocation, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect } from 'react'
import { type RunListSearch, runListSearch } from '../../search-params.ts'
import { readTabStorage, writeTabStorage } from '../../ui/tab-storage.ts'

/** The run list that the person saw last: its filters, and its position in the history of the tab. */
type KeptRunList = { search: RunListSearch; index: number }

const KEY = 'run-list'

function read(): KeptRunList | null {
  const kept = readTabStorage(KEY)
  if (typeof kept !== 'object' || kept === null || !('search' in kept) || !('index' in kept)) return null
  return { search: runListSearch(Object(kept.search)), index: Number(kept.index) }
}

/** Remembers the filters of the run list, so that the link back from a run leads to the same list. */
export function useKeepRunList(search: RunListSearch): void {
  // The location is already that of the next page while the list is still shown.
  const index = useLocation({
    select: ({ pathname, state }) => (pathname === '/' ? state.__TSR_index : null),
  })
  useEffect(() => {
    if (index !== null) writeTabStorage(KEY, { search, index } satisfies KeptRunList)
  }, [search, index])
}

/**
 * Returns the link to the run list as the person left it. When the list is the previous entry of the history,
 * the link goes back to it, so that the scroll position is restored as well.
 */
export function useRunListLink(): { search: RunListSearch; onClick: (event: MouseEvent) => void } {
  const router = useRouter()
  const index = useLocation({ select: location => location.state.__TSR_index })
  const kept = read()
  return {
    search: kept?.search ?? {},
    onClick(event) {
      if (kept === null || kept.index !== index - 1 || event.ctrlKey || event.metaKey || event.shiftKey)
        return
      event.preventDefault()
      router.history.back()
    },
  }
}
