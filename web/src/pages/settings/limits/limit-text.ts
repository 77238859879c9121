import type { Result } from '../../../../../src/contract/calls.ts'
import { bytesText } from '../../../text/bytes.ts'
import { duration, money } from '../../../text/format.ts'

export type Limit = Result<'getOrganizationLimits'>['items'][number]

/** An amount of a limit with its unit, without the one that its name already contains. */
export function amountText(amount: number | string, unit: Limit['unit']): string {
  if (unit === 'usd') return money(String(amount))
  if (unit === 'seconds') return duration(Number(amount) * 1000)
  if (unit === 'bytes') return bytesText(Number(amount))
  return `${Number(amount).toLocaleString('en')} ${Number(amount) === 1 ? unit.replace(/s$/, '') : unit}`
}

const per: Record<number, string> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' }

/** `60 requests per minute`, `60 requests per 30 s`, `no limit`. */
export function limitText({
  value,
  unit,
  window_seconds,
}: Pick<Limit, 'value' | 'unit' | 'window_seconds'>): string {
  if (value === null) return 'no limit'
  return window_seconds === null
    ? amountText(value, unit)
    : `${amountText(value, unit)} per ${per[window_seconds] ?? duration(window_seconds * 1000)}`
}

/** The used share, 0 to 1; null where nothing is counted or limited. */
export function shareOf({ value, used }: Pick<Limit, 'value' | 'used'>): number | null {
  if (value === null || used === null) return null
  return Number(value) === 0 ? 1 : Math.min(1, Number(used) / Number(value))
}
