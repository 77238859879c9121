import type { ReactNode } from 'react'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  /** Numbers end at the same edge. */
  align?: 'end'
  /** Not on a phone. */
  wide_only?: boolean
  /** Takes the rest of the width. */
  main?: boolean
}

type Props<Row> = {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  row_key: (row: Row) => string | number
  foot?: ReactNode
}

/**
 * A table in a frame. What is wider than the screen scrolls inside it. The last column may have an empty name
 * for the actions of a row.
 */
export function Table<Row>({ label, columns, rows, row_key, foot }: Props<Row>) {
  const style = ({ align, wide_only, main }: Column<Row>) =>
    `px-3 first:pl-4 last:pr-4 ${align === 'end' ? 'text-right tabular' : 'text-left'} ${wide_only ? 'max-md:hidden' : ''} ${main ? 'w-full' : 'whitespace-nowrap'}`
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full border-collapse">
        <thead>
          <tr className="border-line border-b text-2xs text-faint">
            {columns.map(column => (
              <th key={column.name} scope="col" className={`h-7 font-normal ${style(column)}`}>
                {column.name || <span className="sr-only">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr
              key={row_key(row)}
              className="relative border-line border-b transition-colors last:border-b-0 hover:bg-hover"
            >
              {columns.map(column => (
                <td key={column.name} className={`h-9 py-1 ${style(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {foot && <tfoot className="border-line border-t font-medium">{foot}</tfoot>}
      </table>
    </section>
  )
}
