type Page<Item> = { items: Item[]; total: number }

/** Returns all items of a list; `page` fetches one page from an offset on. */
export async function allItems<Item>(page: (skip: number) => Promise<Page<Item>>): Promise<Item[]> {
  const first = await page(0)
  const items = [...first.items]
  while (items.length < first.total) {
    const next = await page(items.length)
    if (next.items.length === 0) break
    items.push(...next.items)
  }
  return items
}

/** Returns the offset of the next page of an infinite query; undefined after the last one. */
export function nextSkip(last: Page<unknown>, pages: Page<unknown>[]): number | undefined {
  const loaded = pages.reduce((sum, page) => sum + page.items.length, 0)
  return last.items.length > 0 && loaded < last.total ? loaded : undefined
}
