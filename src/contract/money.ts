import { z } from 'zod'

/** US dollars in responses: a decimal string, because a binary fraction would round them. */
export const money = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .describe('US dollars as a decimal string')

/** US dollars in requests: a number or a decimal string, up to eight decimals. */
export const moneyInput = z
  .union([
    z.number().nonnegative().max(1_000_000),
    z.string().regex(/^\d{1,7}(\.\d{1,8})?$/, 'must be a decimal number'),
  ])
  .transform(value => (typeof value === 'number' ? value.toFixed(8).replace(/\.?(?<!0)0+$/, '') : value))
