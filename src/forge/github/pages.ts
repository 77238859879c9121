export const PER_PAGE = 100
/** More than matter to a run. */
const MAX_PAGES = 50

type Headers = { link?: string | undefined }
type Page<T> = { headers: Headers; data: T[] }

/** Returns whether there is another page. Its address is not used. */
export const hasNext = ({ link }: Headers): boolean => /<[^>]*>;\s*rel="next"/.test(link ?? '')

/** Returns all items of a list, at most `limit`. */
export async function allPages<T>(
  request: (page: { per_page: number; page: number }) => Promise<Page<T>>,
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; page <= MAX_PAGES && all.length < limit; page++) {
    const { data, headers } = await request({ per_page: PER_PAGE, page })
    all.push(...data)
    if (!hasNext(headers)) break
  }
  return all.slice(0, limit)
}
