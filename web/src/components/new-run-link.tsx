import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { meQuery } from '../api/queries.ts'
import type { NewRunSearch } from '../search-params.ts'
import { Button, buttonStyle } from '../ui/button.tsx'

type Props = {
  search?: NewRunSearch
  variant?: 'primary' | 'plain'
  className?: string
  /** Of a button that is only an icon. */
  label?: string
  children: ReactNode
}

/**
 * Leads to the form for a new run. For those who may not start one it is a disabled button with the reason.
 */
export function NewRunLink({ search = {}, variant = 'plain', className = '', label, children }: Props) {
  const me = useQuery(meQuery).data
  if (me?.role === 'READER')
    return (
      <Button
        variant={variant}
        className={className}
        reason="Your role, READER, may not start runs"
        aria-label={label}
      >
        {children}
      </Button>
    )
  return (
    <Link
      to="/new"
      search={search}
      className={buttonStyle(variant, className)}
      aria-label={label}
      data-hint={label}
    >
      {children}
    </Link>
  )
}
