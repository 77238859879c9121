/** Returns the time of a `Date` header, or null. */
export function clockOf(date: string | null | undefined): Date | null {
  const ms = Date.parse(date ?? '')
  return Number.isFinite(ms) ? new Date(ms) : null
}
