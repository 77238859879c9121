import { ago, moment } from '../text/format.ts'
import { Metric } from './metric.tsx'

/** Style of a list row on narrow screens. The columns for wide screens are added by the caller. */
export const rowStyle =
  'relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2 transition-colors last:border-b-0 hover:bg-hover'

/** `hidden`: the names of columns that narrower screens do not have, with the class that hides them there. */
type Names = {
  columns: string
  names: string[]
  metrics: string
  metric_names: string[]
  hidden?: Record<string, string>
}

/** Names of the columns, of which the last one contains the metrics. Hidden on narrow screens. */
export const ListHead = ({ columns, names, metrics, metric_names, hidden = {} }: Names) => (
  <div
    aria-hidden
    className={`grid gap-x-4 border-line border-b px-4 py-1.5 text-2xs text-faint max-md:hidden ${columns}`}
  >
    {names.map(name => (
      <span key={name} className={hidden[name]}>
        {name}
      </span>
    ))}
    <span className={metrics}>
      {metric_names.map(name => (
        <span key={name}>{name}</span>
      ))}
    </span>
  </div>
)

export const Created = ({ at, now }: { at: string; now: number }) => (
  <Metric name="Created">
    <time dateTime={at} title={moment(at)} className="text-faint">
      {ago(at, now)}
    </time>
  </Metric>
)
