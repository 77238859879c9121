import { hash } from 'node:crypto'
import type { Endpoint } from '../../contract/endpoint.ts'
import { type CursorKey, decodeCursor, encodeCursor } from '../../contract/page.ts'
import {
  type Extent,
  extentOf,
  type PageRequest,
  pageWindow,
  positionsOf,
  type Window,
} from '../../core/paging.ts'
import { invalid } from '../../core/service-error.ts'
import { RawResponse } from './raw-response.ts'

type Input = { params: unknown; query: unknown }
type Body = { items: object[]; total: number }

/** Returns whether an operation is a list with `cursor`. */
const isList = (endpoint: Endpoint) => 'cursor' in endpoint.query.shape

/**
 * Throws 400 for a cursor of another list or filter, or one beside `skip` or `page`, whose position it would
 * contradict.
 */
export function requireOwnCursor(endpoint: Endpoint, input: Input): void {
  const { cursor, skip, page } = input.query as PageRequest
  if (!isList(endpoint) || cursor === undefined) return
  if (skip !== undefined || page !== undefined)
    throw invalid(['query', 'cursor'], 'cannot be combined with skip or page')
  if (decodeCursor(cursor)?.list !== digestOf(endpoint, input))
    throw invalid(['query', 'cursor'], 'belongs to another list or another filter: begin without it')
}

/**
 * Returns the `Link` header of a page (RFC 8288): the pages after and before it that have items, with its own
 * filter and limit. Undefined when there is neither, or the response is not a list.
 * @param url of the request: its path and query
 */
export function linksOf(
  endpoint: Endpoint,
  input: Input,
  result: unknown,
  base_url: string,
  url: string,
): string | undefined {
  if (!isList(endpoint)) return undefined
  const window = pageWindow(input.query as PageRequest)
  const extent = extentIn(endpoint, window, result)
  if (extent === null) return undefined
  if (!extent.more && window.skip <= 0) return undefined
  const list = digestOf(endpoint, input)
  const to = new URL(`${base_url}${url}`)
  const others = new URLSearchParams(to.search)
  for (const name of ['skip', 'page', 'cursor']) others.delete(name)
  const link = (rel: 'next' | 'prev', key: CursorKey, seen: number) => {
    others.set('cursor', encodeCursor({ backward: rel === 'prev', key, seen, list }))
    return `<${to.origin}${to.pathname}?${others}>; rel="${rel}"`
  }
  const links = [
    ...(extent.more ? [link('next', extent.last, window.skip + extent.count)] : []),
    ...(window.skip > 0 ? [link('prev', extent.first, window.skip)] : []),
  ]
  return links.join(', ')
}

function extentIn({ ordered_by = 'id' }: Endpoint, window: Window, result: unknown): Extent {
  if (result instanceof RawResponse) return result.extent ?? null
  const { items, total } = pageIn(result as Body | { steps: Body })
  if (ordered_by !== 'position') return extentOf(items, ordered_by, total, window)
  const { skip } = positionsOf(window)
  const last = skip + items.length
  return items.length === 0 ? null : { first: skip, last, count: items.length, more: last < total }
}

const pageIn = (result: Body | { steps: Body }): Body => ('steps' in result ? result.steps : result)

/**
 * Identifies the list: the operation, its path parameters and its filter, in no particular order. The size of
 * a page may change.
 */
function digestOf(endpoint: Endpoint, { params, query }: Input): string {
  const {
    skip: _skip,
    limit: _limit,
    page: _page,
    size: _size,
    cursor: _cursor,
    ...filter
  } = query as PageRequest
  const given = Object.entries({ ...(params as object), ...filter })
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([endpoint.path, given]), 'base64url').slice(0, 11)
}
