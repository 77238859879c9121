import { z } from 'zod'
import { decimal } from './decimal.ts'
import { limits } from './limits.ts'

export type CursorKey = number | string
/**
 * `seen`: number of items before `key`, or up to it unless `backward`. `list`: digest of the list and its
 * filter.
 */
export type Cursor = { backward: boolean; key: CursorKey; seen: number; list: string }

const PARTS = /^([na])([nk])\.(\d{1,15})\.([\w-]{1,64})\.([\w-]{1,100})$/
/** Of a cursor with a number, or with a text as its key. */
const MAX_LENGTH = { number: 64, string: 180 }

/**
 * Returns the text of a cursor, which only the service reads. A text as a key has letters, digits, `_` and
 * `-`.
 */
export function encodeCursor({ backward, key, seen, list }: Cursor): string {
  const parts = `${backward ? 'a' : 'n'}${typeof key === 'number' ? 'n' : 'k'}.${seen}.${list}.${key}`
  return btoa(parts).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Returns the cursor that `encodeCursor` wrote as this text; null for every other text. */
export function decodeCursor(text: string): Cursor | null {
  if (text.length > MAX_LENGTH.string || !/^[\w-]+$/.test(text)) return null
  const parts = PARTS.exec(bytesOf(text))
  if (parts === null) return null
  const [, direction, kind, seen, list = '', key = ''] = parts
  if (kind === 'n' && !/^\d{1,15}$/.test(key)) return null
  const cursor = {
    backward: direction === 'a',
    key: kind === 'n' ? Number(key) : key,
    seen: Number(seen),
    list,
  }
  return encodeCursor(cursor) === text ? cursor : null
}

function bytesOf(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

/** Returns the schema of `cursor` in a query string, for a list that is ordered by a number or by a name. */
export const cursor = (kind: 'number' | 'string' = 'number') =>
  z
    .string({ error: 'given more than once' })
    .max(MAX_LENGTH[kind])
    .refine(
      text => typeof decodeCursor(text)?.key === kind,
      'must be the cursor of a `Link` header of this list',
    )

/**
 * `skip`/`limit`, with the aliases `page`/`size` of existing clients (specification.md#logs,
 * #create-and-resume), or `cursor`: an endpoint with it sends `Link`
 * (decisions.md#cursors-in-the-link-header).
 */
export const pageQuery = {
  skip: decimal(0, limits.page_skip).optional().describe('Number of items to skip, default 0'),
  limit: decimal(1, limits.page_limit).optional().describe('Largest number of items returned, default 100'),
  page: decimal(1, limits.page_skip).optional().describe('1-based page number; ignored when `skip` is given'),
  size: decimal(1, limits.page_limit)
    .optional()
    .describe('The same as `limit`, which wins when both are given'),
  cursor: cursor()
    .optional()
    .describe(
      'From the `Link` header of a page of the same list and filter: the page after or before that one. Not with `skip` or `page`',
    ),
}

/** For a list that is ordered by name. */
export const namedPageQuery = {
  ...pageQuery,
  cursor: cursor('string')
    .optional()
    .describe(pageQuery.cursor.description ?? ''),
}

export type PageQuery = z.output<z.ZodObject<typeof pageQuery>>

/** Returns one page of a list, with the item's example in its own. */
export function pageOf<T extends z.ZodType>(item: T) {
  const examples = (item.meta()?.examples as unknown[] | undefined)?.map(one => ({
    items: [one],
    total: 1,
    page: 1,
    size: 100,
    pages: 1,
  }))
  return z
    .object({
      items: z.array(item).describe('Items of this page'),
      total: z
        .int()
        .describe(
          `Number of items on all pages. Counting ends ${limits.page_count.toLocaleString('en')} items after this page, ${limits.search_count.toLocaleString('en')} with \`q\`: there may then be more`,
        ),
      page: z.int().describe('1-based number of this page'),
      size: z.int().describe('Largest number of items of a page'),
      pages: z.int().describe('Number of pages'),
    })
    .meta(examples === undefined ? {} : { examples })
}
