const MAX_BODY = 60_000
const MAX_TITLE = 300

/** Returns the value at a path of a delivery, whose content is arbitrary. */
export function valueAt(value: unknown, path: string[]): unknown {
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

export const text = (value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : ''
export const number = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
export const long = (value: unknown) => text(value).slice(0, MAX_BODY).toWellFormed()
export const short = (value: unknown) => text(value).slice(0, MAX_TITLE).toWellFormed()
export const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Returns the latest of the values that are valid times. */
export function latest(...times: unknown[]): Date | null {
  const known = times.map(time => Date.parse(text(time))).filter(Number.isFinite)
  return known.length === 0 ? null : new Date(Math.max(...known))
}
