import { ago, moment } from '../text/format.ts'
import { Figure } from './figure.tsx'

/** How a row of a list looks on narrow screens; its columns on others come with it. */
export const rowLook =
  'relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2 transition-colors last:border-b-0 hover:bg-hover'

type Names = { columns: string; names: string[]; figures: string; figure_names: string[] }

/** Names of the columns, of which the last one holds the figures; on narrow screens there are none. */
export const ListHead = ({ columns, names, figures, figure_names }: Names) => (
  <div aria-hidden className={`grid gap-x-4 border-line border-b px-4 py-1.5 text-2xs text-faint max-md:hidden ${columns}`}>
    {names.map(name => (
      <span key={name}>{name}</span>
    ))}
    <span className={figures}>
      {figure_names.map(name => (
        <span key={name}>{name}</span>
      ))}
    </span>
  </div>
)

export const Created = ({ at, now }: { at: string; now: number }) => (
  <Figure name="Created">
    <time dateTime={at} title={moment(at)} className="text-faint">
      {ago(at, now)}
    </time>
  </Figure>
)
