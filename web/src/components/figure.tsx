import type { ReactNode } from 'react'

/** A figure of a row in a list: its name is for who points at it and for who listens. */
export const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <div title={name}>
    <dt className="sr-only">{name}</dt>
    <dd>{children}</dd>
  </div>
)
