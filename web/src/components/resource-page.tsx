import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ComponentProps, isValidElement, type ReactElement, type ReactNode, useState } from 'react'
import { moment } from '../text/format.ts'
import { Button } from '../ui/button.tsx'
import { Loading } from '../ui/notice.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Page } from './page.tsx'
import { PageProblem } from './page-problem.tsx'

type DialogContent = (close: () => void) => ReactNode

/** The dialog that is open, if one is, and the function that opens another. */
export function useDialog(first?: DialogContent): {
  dialog: ReactNode
  show: (dialog: DialogContent) => void
} {
  const [open, setOpen] = useState(first && { content: first })
  // A request that ends after its dialog was closed leaves the next one open.
  const close = () => setOpen(now => (now === open ? undefined : now))
  return {
    dialog: open?.content(close),
    show: content => setOpen({ content }),
  }
}

/** A button of a row or of a page, which opens a dialog. */
type Action = {
  text: string
  /** Of the button of a row; quiet if it is absent. */
  variant?: 'danger'
  /** Its name for screen readers, among those of other rows; absent: its text and the name of the row. */
  label?: string
  /** Why this person may not do it, or null. */
  reason?: string | null
  dialog: DialogContent
}

type TableProps<Row> = {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  row_key?: (row: Row) => string | number
  /** As people know the row. */
  name: (row: Row) => string
  /** Buttons, or links to where the row is changed. */
  actions: (row: Row) => (Action | ReactElement | false)[]
  /** The buttons of a row are one below the other on a phone. */
  stacked?: boolean
  /** Shown instead of a table without rows. */
  empty?: ReactNode
}

/** A column of moments, which a phone has no width for. */
export const momentColumn = <Row,>(name: string, at: (row: Row) => string | null): Column<Row> => ({
  name,
  wide_only: true,
  cell: row => {
    const iso = at(row)
    return (
      iso !== null && (
        <time dateTime={iso} className="text-muted">
          {moment(iso)}
        </time>
      )
    )
  },
})

/** A table of a resource, with the dialogs that its rows open. */
export function ResourceTable<Row>(props: TableProps<Row>) {
  const { columns, name, row_key = name, actions, stacked, empty, ...table } = props
  const { dialog, show } = useDialog()
  const buttons = (row: Row) =>
    actions(row).map(action =>
      action === false || isValidElement(action) ? (
        action
      ) : (
        <Button
          key={action.text}
          variant={action.variant ?? 'quiet'}
          reason={action.reason}
          aria-label={action.label ?? `${action.text} ${name(row)}`}
          onClick={() => show(action.dialog)}
        >
          {action.text}
        </Button>
      ),
    )
  const style = `flex justify-end gap-1 ${stacked ? 'max-sm:flex-col max-sm:items-end' : ''}`
  const last: Column<Row> = { name: '', cell: row => <span className={style}>{buttons(row)}</span> }
  return (
    <>
      {table.rows.length === 0 ? empty : <Table {...table} columns={[...columns, last]} row_key={row_key} />}
      {dialog}
    </>
  )
}

/** The button of a page that adds something. */
export function AddButton({ text, reason, dialog: content }: Action) {
  const { dialog, show } = useDialog()
  return (
    <>
      <Button variant="primary" reason={reason} onClick={() => show(content)}>
        <Plus aria-hidden className="size-4" /> {text}
      </Button>
      {dialog}
    </>
  )
}

type Query<Data, Key extends QueryKey> = UseQueryOptions<Data, Error, Data, Key>

type QueryPageProps<Data, Key extends QueryKey> = Omit<ComponentProps<typeof Page>, 'note' | 'children'> & {
  query: Query<Data, Key>
  note?: (data: Data) => ReactNode
  /** What could not be loaded, if it fails. */
  what?: string
  /** What is loading. */
  loading?: string
  children: (data: Data) => ReactNode
}

/** A page of what one query returns. */
export function QueryPage<Data, Key extends QueryKey>(props: QueryPageProps<Data, Key>) {
  const { query, note, what = 'page', loading, children, ...page } = props
  const { data, isError, error, refetch } = useQuery(query)
  if (isError) return <PageProblem error={error} retry={() => refetch()} what={what} />
  return (
    <Page {...page} note={data && note?.(data)}>
      {data === undefined ? <Loading label={loading} /> : children(data)}
    </Page>
  )
}

type Resource<Row, Key extends QueryKey> = Omit<TableProps<Row>, 'label' | 'rows'> & {
  /** In the plural, as inside a sentence. */
  what: string
  about?: string
  query: Query<Row[], Key>
  add: Action
  /** What is around the button and the table; absent: a page of its own. */
  frame?: (button: ReactNode, list: ReactNode) => ReactNode
}

/** What there is of a resource: its rows, what is done with each, and the button that adds one. */
export function ResourcePage<Row, Key extends QueryKey>(props: Resource<Row, Key>) {
  const { what, about, query, add, frame, ...table } = props
  const { data, isError, error, refetch } = useQuery(query)
  if (isError) return <PageProblem error={error} retry={() => refetch()} what="list" />
  const heading = what.replace(/^./, first => first.toUpperCase())
  const button = <AddButton {...add} />
  const list = data ? (
    <ResourceTable label={heading} rows={data} {...table} />
  ) : (
    <Loading label={`Loading the ${what}`} />
  )
  if (frame) return frame(button, list)
  return (
    <Page heading={heading} note={data?.length} about={about} actions={button}>
      {list}
    </Page>
  )
}
