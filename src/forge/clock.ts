/** What a forge says in its `Date`; null: nothing that is a time. */
export function clockOf(date: string | null | undefined): Date | null {
  const ms = Date.parse(date ?? '')
  return Number.isFinite(ms) ? new Date(ms) : null
}
