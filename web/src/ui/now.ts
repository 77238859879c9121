import { useEffect, useState } from 'react'

/** The time in milliseconds, renewed every `every_ms` while `active`. */
export function useNow(active: boolean, every_ms = 1000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!active) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), every_ms)
    return () => clearInterval(timer)
  }, [active, every_ms])
  return now
}
