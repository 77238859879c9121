import { isObject } from '../../../trace/fields.ts'

/** What an act changed, in one line: `role: MEMBER → MANAGER, email: ada@example.org`. */
export const detailText = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ')

function valueText(value: unknown): string {
  if (isObject(value) && 'from' in value && 'to' in value) return `${valueText(value.from)} → ${valueText(value.to)}`
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
