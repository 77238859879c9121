import { limits } from '../contract/limits.ts'

export type PageRequest = { skip?: number | undefined; limit?: number | undefined; page?: number | undefined; size?: number | undefined }

/** Reads `skip`/`limit` with the aliases `page`/`size`; `skip` and `limit` win when both are given (specification.md#create-and-resume). */
export function pageWindow(request: PageRequest): { skip: number; limit: number } {
  const limit = request.limit ?? request.size ?? limits.page_limit
  return { skip: request.skip ?? ((request.page ?? 1) - 1) * limit, limit }
}

/** Returns the four numbers of every page: `page` counts from 1, `pages` is 0 when there is nothing. */
export function pageNumbers(total: number, { skip, limit }: { skip: number; limit: number }) {
  return { page: Math.floor(skip / limit) + 1, size: limit, pages: Math.ceil(total / limit) }
}
