import { z } from 'zod'
import { decimal } from './decimal.ts'
import { limits } from './limits.ts'

/** `skip`/`limit`, with `page`/`size` as an alias that existing clients send (spec §Limits, decisions §4). */
export const pageQuery = {
  skip: decimal(0, limits.page_skip).optional().describe('Number of items to skip, default 0'),
  limit: decimal(1, limits.page_limit).optional().describe('Largest number of items returned, default 100'),
  page: decimal(1, limits.page_skip).optional().describe('Alias: 1-based page number, used when `skip` is absent'),
  size: decimal(1, limits.page_limit).optional().describe('Alias of `limit`'),
}

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total: z.int(), page: z.int(), size: z.int(), pages: z.int() })
