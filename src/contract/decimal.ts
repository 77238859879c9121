import { z } from 'zod'

/**
 * Returns the schema of a whole number in a path or a query string: plain decimal digits and nothing else.
 * `0x10`, `1e2`, ` 10`, an empty value and a repeated key are refused, never guessed at
 * (specification.md#logs).
 */
export function decimal(min: number, max: number, digits = /^\d{1,15}$/) {
  return z
    .string({
      error: issue =>
        Array.isArray(issue.input) ? 'given more than once' : `must be a whole number from ${min} to ${max}`,
    })
    .regex(digits, `must be a whole number from ${min} to ${max}, in plain decimal digits`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ wire: { type: 'integer', minimum: min, maximum: max } })
}

/**
 * Returns the schema of an integer id in a path or query, in canonical form: `01` is not the address of 1.
 */
export const id = () => decimal(0, 999_999_999_999_999, /^(0|[1-9]\d{0,14})$/)

/** Returns the schema of `true` or `false` in a query string. */
export const flag = () =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform(value => value === 'true')
    .meta({ wire: { type: 'boolean' } })

const earliest = Date.parse('0001-01-01T00:00:00Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Returns the schema of an ISO 8601 time with zone in a query string, of the years 1 to 9999. Parses to the
 * same time in UTC.
 */
export const moment = () =>
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with zone, for example 2026-11-20T10:30:00Z' })
    .refine(
      value => Date.parse(value) >= earliest && Date.parse(value) <= latest,
      'must be a time of the years 1 to 9999',
    )
    .transform(value => new Date(value).toISOString())
    .meta({ wire: { type: 'string', format: 'date-time' } })
