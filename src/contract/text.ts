import { z } from 'zod'

export const unsound = 'must not hold NUL or half a surrogate pair'

/**
 * Returns whether every key and value of this JSON.stringify output would pass `text`: only invalid
 * characters are escaped this way.
 */
export function isSoundJson(json: string): boolean {
  return !/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/.test(json)
}

/**
 * Returns the schema of text that is stored exactly as sent, from `min` to `max` characters (code points, as
 * JSON Schema counts them). NUL, which the database cannot store, and unpaired surrogates, which are not
 * Unicode, are rejected rather than silently changed. `trim`: surrounding white space is removed.
 */
export function text(min: number, max: number, options: { trim?: boolean; error?: string } = {}) {
  const string = z.string({ error: options.error ?? 'must be a string' })
  return (options.trim ? string.trim() : string)
    .refine(value => min === 0 || value.length > 0, 'must not be empty')
    .refine(value => value.length <= max || characters(value) <= max, `must have at most ${max} characters`)
    .refine(value => value.isWellFormed() && !value.includes('\0'), unsound)
    .meta({
      wire: {
        type: 'string',
        ...(min > 0 && { minLength: min }),
        maxLength: max,
        ...(options.trim && min > 0 && { pattern: '\\S' }),
      },
    })
}

/** Keywords of an address that begins with http:// or https://, for `meta({ wire_rules })`. */
export const web_address = { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?:' } as const

function characters(value: string): number {
  let count = 0
  for (const _character of value) count++
  return count
}
