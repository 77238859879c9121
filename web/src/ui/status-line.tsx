import { useEffect, useRef, useState } from 'react'

const quiet_ms = 2500

/** The polite live region of a page: announces the latest `message`, at most every 2.5 seconds. */
export function StatusLine({ message }: { message: string }) {
  const [announced, setAnnounced] = useState('')
  const last = useRef(0)
  useEffect(() => {
    const timer = setTimeout(
      () => {
        last.current = Date.now()
        setAnnounced(message)
      },
      Math.max(0, last.current + quiet_ms - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [message])
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {announced}
    </div>
  )
}
