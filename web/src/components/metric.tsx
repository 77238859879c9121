import type { ReactNode } from 'react'

/** A metric in a row of a list. Its name is the tooltip and the label for screen readers. */
export const Metric = ({ name, children }: { name: string; children: ReactNode }) => (
  <div title={name}>
    <dt className="sr-only">{name}</dt>
    <dd>{children}</dd>
  </div>
)
