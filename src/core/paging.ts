import { limits } from '../contract/limits.ts'
import { type CursorKey, decodeCursor, type PageQuery } from '../contract/page.ts'

export type PageRequest = { [K in keyof PageQuery]?: PageQuery[K] | undefined }

/**
 * Keys of the first and the last of the `count` items of a page; null when it is empty. `more`: whether items
 * follow.
 */
export type Extent = { first: CursorKey; last: CursorKey; count: number; more: boolean } | null

/**
 * A part of a list. `skip`: number of items before it. `from`: it is the items after, or with `backward`
 * before, the item with that key, and `skip` is what the cursor remembers. Without it, it begins after `skip`
 * items.
 */
export type Window = { skip: number; limit: number; from?: { key: CursorKey; backward: boolean } | undefined }

/**
 * Reads `skip`/`limit` with the aliases `page`/`size`; `skip` and `limit` win when both are given
 * (specification.md#create-and-resume). A `cursor` has been validated.
 */
export function pageWindow(request: PageRequest): Window {
  const limit = request.limit ?? request.size ?? limits.page_limit
  const cursor = request.cursor === undefined ? null : decodeCursor(request.cursor)
  if (cursor === null) return { skip: request.skip ?? ((request.page ?? 1) - 1) * limit, limit }
  const { key, backward, seen } = cursor
  return { skip: backward ? Math.max(0, seen - limit) : seen, limit, from: { key, backward } }
}

/** Returns the four numbers of every page: `page` counts from 1, `pages` is 0 when there is nothing. */
export function pageNumbers(total: number, { skip, limit }: { skip: number; limit: number }) {
  return { page: Math.floor(skip / limit) + 1, size: limit, pages: Math.ceil(total / limit) }
}

/** Returns the range of a list whose cursors are positions, because it only grows at its end. */
export function positionsOf({ skip, limit, from }: Window): { skip: number; limit: number } {
  if (from === undefined) return { skip, limit }
  const key = Number(from.key)
  const first = from.backward ? Math.max(0, key - limit) : key
  return { skip: first, limit: from.backward ? key - first : limit }
}

/** Returns the items of a list in memory whose cursors are positions. */
export function partOf<Item>(all: readonly Item[], window: Window): Item[] {
  const { skip, limit } = positionsOf(window)
  return all.slice(skip, skip + limit)
}

/**
 * Returns the extent of a page whose items have their key in one of their fields; `total` as the page reports
 * it.
 */
export function extentOf(items: readonly object[], field: string, total: number, { skip }: Window): Extent {
  const keyOf = (item: object | undefined) => (item as Record<string, CursorKey> | undefined)?.[field]
  const [first, last] = [keyOf(items[0]), keyOf(items.at(-1))]
  return first === undefined || last === undefined
    ? null
    : { first, last, count: items.length, more: skip + items.length < total }
}
