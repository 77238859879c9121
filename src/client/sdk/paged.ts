/** A page when it is awaited, every item when it is iterated over, page after page. */
export type Paged<Page, Item> = PromiseLike<Page> & AsyncIterable<Item> & { pages(): AsyncIterable<Page> }

type PageSource<Page, Item, Position> = {
  first: Position
  load(position: Position): Promise<Page>
  items(page: Page): Item[]
  /** Where the page after this one is; null when there is none. */
  next(page: Page, position: Position): Position | null
}

/** Asks for nothing before it is awaited or iterated over. */
export function paged<Page, Item, Position>(source: PageSource<Page, Item, Position>): Paged<Page, Item> {
  async function* pages(): AsyncGenerator<Page> {
    for (let position: Position | null = source.first; position !== null; ) {
      const page: Page = await source.load(position)
      yield page
      position = source.next(page, position)
    }
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* source.items(page)
  }
  let first: Promise<Page> | undefined
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise of its first page on purpose
    then(fulfilled, rejected) {
      first ??= source.load(source.first)
      return first.then(fulfilled, rejected)
    },
    [Symbol.asyncIterator]: items,
    pages,
  }
}

type List<Item> = { items: Item[]; total: number; page: number; size: number }
type Position = { skip?: number | undefined; page?: number | undefined }

/**
 * Returns a list with `skip` and `limit`, or `page` and `size` for where it begins. An item that moved to a later page while pages were
 * read is not given twice.
 */
export function listed<Page extends List<{ id: number }>, Query extends Position>(
  query: Query,
  load: (query: Query) => Promise<Page>,
): Paged<Page, Page['items'][number]> {
  const seen = new Set<number>()
  return paged({
    first: query,
    load,
    items: page => page.items.filter(({ id }) => !seen.has(id) && seen.add(id)),
    next(page, position) {
      const skip = (position.skip ?? (page.page - 1) * page.size) + page.items.length
      return page.items.length === 0 || skip >= page.total ? null : { ...position, skip, page: undefined }
    },
  })
}
