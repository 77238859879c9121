import { z } from 'zod'

export const unsound = 'must not hold NUL or half a surrogate pair'

/** Whether no key and no value of this text, as JSON.stringify writes it, holds what `text` refuses: it writes only those two so. */
export function isSoundJson(json: string): boolean {
  return !/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/.test(json)
}

/**
 * Text that is kept exactly as it was sent, from `min` to `max` characters (code points, as JSON Schema counts them). NUL, which the
 * database cannot hold, and half a surrogate pair, which is no Unicode, are refused rather than changed in silence.
 * `trim`: white space around it does not belong to it.
 */
export function text(min: number, max: number, options: { trim?: boolean; error?: string } = {}) {
  const string = z.string({ error: options.error ?? 'must be a string' })
  return (options.trim ? string.trim() : string)
    .refine(value => min === 0 || value.length > 0, 'must not be empty')
    .refine(value => value.length <= max || characters(value) <= max, `must have at most ${max} characters`)
    .refine(value => value.isWellFormed() && !value.includes('\0'), unsound)
    .meta({
      wire: { type: 'string', ...(min > 0 && { minLength: min }), maxLength: max, ...(options.trim && min > 0 && { pattern: '\\S' }) },
    })
}

function characters(value: string): number {
  let count = 0
  for (const _character of value) count++
  return count
}
