import { storedText } from '../core/text/stored-text.ts'

/**
 * Returns the values of a statement with every text as PostgreSQL can store it. Texts of git, forges, models
 * and programs arrive here by many ways, and one NUL would fail the whole statement: for a run, the one that
 * records why it ended.
 */
export const storedValues = (values: readonly unknown[]): unknown[] => values.map(stored)

/** Without a copy of what has no NUL. The driver itself writes half a surrogate pair as U+FFFD. */
function stored(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? storedText(value) : value
  return Array.isArray(value) ? value.map(stored) : value
}
