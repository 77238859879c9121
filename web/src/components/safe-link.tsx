import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { httpLink } from '../text/links.ts'

/**
 * A link when the address is an http(s) one, else its text. Pages of this service open in the same tab,
 * others in a new tab without a referrer.
 */
export function SafeLink({
  href,
  children,
  className = '',
}: {
  href: string | null
  children: ReactNode
  className?: string
}) {
  const router = useRouter()
  const safe = httpLink(href)
  if (!safe) return <span className={className}>{children}</span>
  const style = `text-accent hover:underline ${className}`
  const { origin, pathname, search, hash } = new URL(safe)
  if (origin !== location.origin) {
    return (
      <a href={safe} target="_blank" rel="noopener noreferrer" className={style}>
        {children}
      </a>
    )
  }
  return (
    <a
      href={safe}
      className={style}
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
