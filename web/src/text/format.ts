/** Formats a count for a narrow column: `1.2k`, `34k`, `5.1M`. */
export function compact(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`
}

/** US dollars; null is an unknown price and never 0. */
export function money(usd: string | null): string {
  if (usd === null) return 'unknown'
  const value = Number(usd)
  if (value === 0) return '$0'
  if (value < 0.01) return `$${value.toFixed(4)}`
  return `$${value.toFixed(2)}`
}

/** `840 ms`, `3.2 s`, `4 m 05 s`, `2 h 10 m`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} m ${pad(Math.floor(seconds % 60))} s`
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`
}

const pad = (value: number) => String(value).padStart(2, '0')

/** `now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, then the date. */
export function ago(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`
  return new Date(iso).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
}

/** Local date and time with seconds, 24 hours, for titles and details. */
export const moment = (iso: string) =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `14:04:31`, the reader's time. */
export const clock = (iso: string) => new Date(iso).toLocaleTimeString(undefined, { hourCycle: 'h23' })

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`
