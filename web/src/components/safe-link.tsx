import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { httpLink } from '../text/links.ts'

/** A link when the address is an http(s) one, else its text. Our own pages open in place, others in a tab that knows nothing of us. */
export function SafeLink({ href, children, className = '' }: { href: string | null; children: ReactNode; className?: string }) {
  const router = useRouter()
  const safe = httpLink(href)
  if (!safe) return <span className={className}>{children}</span>
  const look = `text-accent hover:underline ${className}`
  const { origin, pathname, search, hash } = new URL(safe)
  if (origin !== location.origin) {
    return (
      <a href={safe} target="_blank" rel="noopener noreferrer" className={look}>
        {children}
      </a>
    )
  }
  return (
    <a
      href={safe}
      className={look}
      onClick={event => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        router.history.push(pathname + search + hash)
      }}
    >
      {children}
    </a>
  )
}
