type Page<Item> = { items: Item[]; total: number }

/**
 * Returns all items of a list; `page` fetches one page from an offset on. The service counts only up to a
 * bound beyond a page, so that only the total of the last page shows whether more follow.
 */
export async function allItems<Item>(page: (skip: number) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = []
  for (;;) {
    const next = await page(items.length)
    items.push(...next.items)
    if (next.items.length === 0 || items.length >= next.total) return items
  }
}

/** Returns the offset of the next page of an infinite query; undefined after the last one. */
export function nextSkip(last: Page<unknown>, pages: Page<unknown>[]): number | undefined {
  const loaded = pages.reduce((sum, page) => sum + page.items.length, 0)
  return last.items.length > 0 && loaded < last.total ? loaded : undefined
}
