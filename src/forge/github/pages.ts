export const PER_PAGE = 100
/** Nobody has so many that matter to a run. */
const MOST_PAGES = 50

type Headers = { link?: string | undefined }
type Page<T> = { headers: Headers; data: T[] }

/** Of the address of a next page only that there is one is believed. */
export const hasNext = ({ link }: Headers): boolean => /<[^>]*>;\s*rel="next"/.test(link ?? '')

/** Everything of a list, page by page, `limit` at most. */
export async function allPages<T>(
  ask: (page: { per_page: number; page: number }) => Promise<Page<T>>,
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; page <= MOST_PAGES && all.length < limit; page++) {
    const { data, headers } = await ask({ per_page: PER_PAGE, page })
    all.push(...data)
    if (!hasNext(headers)) break
  }
  return all.slice(0, limit)
}
