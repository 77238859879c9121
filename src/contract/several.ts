import { z } from 'zod'

const MAX_VALUES = 20

/**
 * Returns the schema of a filter of a query string that takes 1 to 20 values, of which any may match:
 * `status=a&status=b`, and also `status=a,b` unless a value may itself contain a comma (`commas: false`).
 * Parses to an array.
 */
export function several<T extends z.ZodType>(item: T, { commas = true } = {}) {
  const split = (value: unknown) => {
    const parts = commas && typeof value === 'string' ? value.split(',').filter(part => part !== '') : []
    return parts.length > 0 ? parts : [value]
  }
  return z
    .preprocess(
      values => (values === undefined ? undefined : [values].flat().flatMap(split)),
      z.array(item).min(1).max(MAX_VALUES, `must have at most ${MAX_VALUES} values`),
    )
    .optional()
}
