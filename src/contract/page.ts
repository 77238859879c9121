import { z } from 'zod'
import { decimal } from './decimal.ts'
import { limits } from './limits.ts'

/** `skip`/`limit`, with the aliases `page`/`size` of existing clients (specification.md#logs, #create-and-resume). */
export const pageQuery = {
  skip: decimal(0, limits.page_skip).optional().describe('Number of items to skip, default 0'),
  limit: decimal(1, limits.page_limit).optional().describe('Largest number of items returned, default 100'),
  page: decimal(1, limits.page_skip).optional().describe('1-based page number; ignored when `skip` is given'),
  size: decimal(1, limits.page_limit).optional().describe('The same as `limit`, which wins when both are given'),
}

export type PageQuery = { [K in keyof typeof pageQuery]?: number | undefined }

/** Returns one page of a list, with the item's example in its own. */
export function pageOf<T extends z.ZodType>(item: T) {
  const examples = (item.meta()?.examples as unknown[] | undefined)?.map(one => ({ items: [one], total: 1, page: 1, size: 100, pages: 1 }))
  return z
    .object({
      items: z.array(item).describe('Items of this page'),
      total: z.int().describe('Number of items on all pages'),
      page: z.int().describe('1-based number of this page'),
      size: z.int().describe('Largest number of items of a page'),
      pages: z.int().describe('Number of pages'),
    })
    .meta(examples === undefined ? {} : { examples })
}
