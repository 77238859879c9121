const MAX_COUNT = 1e9

/**
 * Returns a number of tokens, as gateways report it, as a whole number: some send fractions or texts. Null
 * for anything else.
 */
export function tokenCount(value: unknown): number | null {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && count >= 0 && count <= MAX_COUNT ? Math.round(count) : null
}
