import type { ReactNode } from 'react'

/** Names with their values, one below the other. Those without a value (null) are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="grid gap-x-6 gap-y-1 sm:grid-cols-[auto_minmax(0,1fr)] [&_code]:font-mono [&_code]:text-xs">
    {facts.map(
      ([name, value]) =>
        value !== null && (
          <div key={name} className="contents max-sm:block">
            <dt className="text-muted">{name}</dt>
            <dd className="[overflow-wrap:anywhere]">{value}</dd>
          </div>
        ),
    )}
  </dl>
)
