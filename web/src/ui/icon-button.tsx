import type { ComponentProps, ReactNode } from 'react'
import { Button } from './button.tsx'

type Props = Omit<ComponentProps<typeof Button>, 'children' | 'hint'> & { label: string; children: ReactNode }

/** A button that shows an icon only. Its label is its accessible name and its tooltip. */
export const IconButton = ({ label, children, className = '', variant = 'quiet', ...rest }: Props) => (
  <Button {...rest} variant={variant} aria-label={label} hint={label} className={`w-7 px-0! ${className}`}>
    {children}
  </Button>
)
