export const log_levels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof log_levels)[number]

/**
 * Writes a line to the operator's log. `fields` are ids, our own names, codes and counts: never a token, a
 * prompt, a header, a body or the output of a tool.
 */
export type Log = (level: LogLevel, message: string, fields?: Record<string, unknown>) => void

/**
 * Creates a log that writes one JSON object per line, from level `least` on. When a value cannot be
 * serialized, only the fields are dropped, never the line.
 */
export function createLog(
  least: LogLevel,
  write: (line: string) => void,
  now: () => Date = () => new Date(),
): Log {
  const lowest = log_levels.indexOf(least)
  return (level, message, fields = {}) => {
    if (log_levels.indexOf(level) < lowest) return
    const head = { time: now().toISOString(), level, message }
    let line: string
    try {
      line = JSON.stringify({ ...head, ...fields })
    } catch {
      line = JSON.stringify({ ...head, fields: 'could not be written' })
    }
    write(`${line}\n`)
  }
}

/** Returns the log with `fields` in every line. */
export const logWith =
  (log: Log, fields: Record<string, unknown>): Log =>
  (level, message, more = {}) =>
    log(level, message, { ...fields, ...more })

/**
 * Classes of PostgreSQL errors whose messages contain names of statements, tables and states, never values.
 */
const quotes_nothing = /^(08|25|40|42|53|54|55|57|58|XX)/

/**
 * Returns the text of an error with its stack. The database quotes values in messages, and a value may be a
 * prompt or a secret: for those classes only the code is returned.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { severity, code } = error as { severity?: string; code?: string }
  if (severity === undefined || quotes_nothing.test(code ?? '')) return error.stack ?? error.message
  const stack_text = error.stack?.slice(error.stack.indexOf('\n    at ')) ?? ''
  return `error ${code ?? 'without a code'} of the database${stack_text}`
}
