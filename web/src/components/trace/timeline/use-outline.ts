import { useState } from 'react'

const KEY = 'outline'

/** Without a choice the outline is open where the screen has space for it. */
function chosen(): boolean {
  try {
    const stored = localStorage.getItem(KEY)
    if (stored !== null) return stored === 'open'
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  return matchMedia('(min-width: 110rem)').matches
}

/** Whether the outline is open, kept in this browser. */
export function useOutline(): { open: boolean; set: (open: boolean) => void } {
  const [open, setOpen] = useState(chosen)
  return {
    open,
    set(next) {
      setOpen(next)
      try {
        localStorage.setItem(KEY, next ? 'open' : 'closed')
      } catch {
        // As above.
      }
    },
  }
}
