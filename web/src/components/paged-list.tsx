import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { plural } from '../text/format.ts'
import { Button, buttonStyle } from '../ui/button.tsx'
import { Blank, Loading } from '../ui/notice.tsx'
import { StatusLine } from '../ui/status-line.tsx'
import { PageProblem } from './page-problem.tsx'

type Page<Item> = { items: Item[]; total: number }

type Props<Item> = {
  list: UseInfiniteQueryResult<InfiniteData<Page<Item>>, Error>
  /** One item and several: `['sandbox', 'sandboxes']`. The number of all is announced. */
  nouns: readonly [one: string, many: string]
  /** What there is instead of items. */
  empty: ReactNode
  /** The text of the button that loads the next page. */
  more?: string
  /** Whether the items need a frame: tables have one. */
  framed?: boolean
  children: (items: Item[]) => ReactNode
}

/**
 * The loaded pages of a list, and a button that loads the next one; or that it is loading, why it failed, or
 * what there is instead.
 */
export function PagedList<Item>({
  list,
  nouns: [one, many],
  empty,
  more = `Load older ${many}`,
  framed = false,
  children,
}: Props<Item>) {
  const { items, total } = loaded(list)
  return (
    <>
      <StatusLine message={list.isSuccess ? plural(total, one, many) : ''} />
      <div className={framed ? 'mt-3 rounded-lg border border-line bg-surface' : 'mt-3'}>
        {list.isPending && <Loading label={`Loading ${many}`} />}
        {list.isError && <PageProblem error={list.error} retry={() => list.refetch()} what="list" />}
        {list.isSuccess && items.length === 0 && empty}
        {items.length > 0 && children(items)}
      </div>
      {list.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button busy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {more}
          </Button>
        </div>
      )}
    </>
  )
}

/** The items of all loaded pages, and how many there are in all. */
export function loaded<Item>({ data }: { data: InfiniteData<Page<Item>> | undefined }): {
  items: Item[]
  total: number
} {
  return { items: data?.pages.flatMap(page => page.items) ?? [], total: data?.pages[0]?.total ?? 0 }
}

/** The number of all items, for the heading; nothing while it is unknown. */
export const totalNote = (list: { data: InfiniteData<Page<unknown>> | undefined }) =>
  list.data && loaded(list).total.toLocaleString('en')

/** Filters exclude every item. `link`: the page without filters. */
export const NothingMatches = ({ what, link }: { what: string; link: LinkProps }) => (
  <Blank icon={<SearchX />} title={`No ${what} matches`}>
    <Link {...link} search={{}} className={buttonStyle('plain', 'mt-2')}>
      Remove all filters
    </Link>
  </Blank>
)

/** Whether the address has a filter. */
export const isFiltered = (search: object) => Object.values(search).some(value => value !== undefined)
