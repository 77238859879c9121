import { useEffect, useRef, useState } from 'react'

const quiet_ms = 2500

/** The one polite live region of a page: says the latest `message`, at most once in a while. */
export function StatusLine({ message }: { message: string }) {
  const [said, setSaid] = useState('')
  const last = useRef(0)
  useEffect(() => {
    const timer = setTimeout(
      () => {
        last.current = Date.now()
        setSaid(message)
      },
      Math.max(0, last.current + quiet_ms - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [message])
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {said}
    </div>
  )
}
