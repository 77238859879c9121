import { z } from 'zod'
import { readResponse } from '../read-response.ts'

export const PER_PAGE = 100
/** More than matter to a run. */
const MAX_PAGES = 50

type Headers = { link?: string | undefined }
type Page = { headers: Headers; data: unknown }

/** Returns whether there is another page. Its address is not used. */
export const hasNext = ({ link }: Headers): boolean => /<[^<>]*>;\s*rel="next"/.test(link ?? '')

/**
 * Returns all items of a list, at most `limit`. `list`: the field of a page that has the items; null: the
 * page is a list.
 */
export async function allPages<S extends z.ZodType>(
  {
    shape,
    list = null,
    limit = Number.POSITIVE_INFINITY,
  }: { shape: S; list?: string | null; limit?: number },
  request: (page: { per_page: number; page: number }) => Promise<Page>,
): Promise<z.output<S>[]> {
  const all: z.output<S>[] = []
  for (let page = 1; page <= MAX_PAGES && all.length < limit; page++) {
    const { data, headers } = await request({ per_page: PER_PAGE, page })
    const items = z.array(shape)
    all.push(
      ...(list === null
        ? readResponse('GitHub', items, data)
        : (readResponse('GitHub', z.object({ [list]: items }), data)[list] ?? [])),
    )
    if (!hasNext(headers)) break
  }
  return all.slice(0, limit)
}
