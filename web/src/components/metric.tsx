import type { ReactNode } from 'react'

type Props = {
  name: string
  /** Shown above the metric on narrow screens, which have no names of columns. */
  column?: string
  children: ReactNode
}

/** A metric in a row of a list. Its name is the tooltip and the label for screen readers. */
export const Metric = ({ name, column, children }: Props) => (
  <div title={name}>
    <dt className="sr-only">{name}</dt>
    {column && (
      <dd aria-hidden className="text-2xs text-faint md:hidden">
        {column}
      </dd>
    )}
    <dd>{children}</dd>
  </div>
)
