/** A page when it is awaited, every item when it is iterated over, page after page. */
export type PagedList<Page, Item> = PromiseLike<Page> & AsyncIterable<Item> & { pages(): AsyncIterable<Page> }

type PageSource<Page, Item, Position> = {
  first: Position
  load(position: Position): Promise<Page>
  items(page: Page): Item[]
  /** Where the page after this one is; null when there is none. */
  next(page: Page, position: Position): Position | null
}

/** Asks for nothing before it is awaited or iterated over. */
export function paged<Page, Item, Position>(source: PageSource<Page, Item, Position>): PagedList<Page, Item> {
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

type Position = { skip?: number | undefined; page?: number | undefined; cursor?: string | undefined }

/**
 * Returns a list that begins at `skip` or `page` and continues by the cursors of its pages: items that are
 * added meanwhile move none.
 */
export function listed<Page extends { items: unknown[] }, Query extends Position>(
  query: Query,
  load: (query: Query) => Promise<{ page: Page; cursor: string | null }>,
): PagedList<Page, Page['items'][number]> {
  const cursors = new WeakMap<Page, string | null>()
  return paged({
    first: query,
    async load(position) {
      const { page, cursor } = await load(position)
      cursors.set(page, cursor)
      return page
    },
    items: page => page.items,
    next(page, position) {
      const cursor = cursors.get(page) ?? null
      return cursor === null ? null : { ...position, skip: undefined, page: undefined, cursor }
    },
  })
}
