import type { ReactNode } from 'react'

/** A key of the keyboard. */
export const Key = ({ children }: { children: ReactNode }) => (
  <kbd className="min-w-5 rounded border border-line bg-sunken px-1 text-center font-sans text-2xs text-faint leading-4">
    {children}
  </kbd>
)
