import { isObject } from '../../../trace/fields.ts'

/**
 * As long as the service writes the name of a commit in its texts. The dialog of the entry shows it whole.
 */
const SHORT_SHA = 12

/** What an act changed, in one line: `role: MEMBER → MANAGER, email: ada@example.org`. */
export const detailText = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ')

function valueText(value: unknown): string {
  if (isObject(value) && 'from' in value && 'to' in value)
    return `${valueText(value.from)} → ${valueText(value.to)}`
  if (value === null) return 'none'
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  if (isObject(value))
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${valueText(inner)}`)
      .join(', ')
  return String(value).replace(/^[0-9a-f]{40}$/, sha => sha.slice(0, SHORT_SHA))
}
