// PostgreSQL error classes: connection exceptions, rolled-back transactions, shutdown, insufficient
// resources, and timeouts of statements, locks and transactions.
const classes = /^(08|40|53|57)|^(55P03|25P03)$/
const sockets = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])
const messages =
  /timeout exceeded when trying to connect|^timeout expired$|Connection terminated|Query read timeout/

/**
 * Returns whether a statement failed because the database is unavailable, full or too busy: the same
 * statement may succeed later.
 */
export function isDatabaseAway(error: unknown): boolean {
  const {
    code = '',
    message = '',
    syscall,
    path,
  } = error as { code?: string; message?: string; syscall?: string; path?: string }
  // ENOENT of a file, not of the socket.
  if (code === 'ENOENT' && path !== undefined && syscall !== 'connect') return false
  return classes.test(code) || sockets.has(code) || messages.test(message)
}

/** Returns whether the database has no space left for a write; reads still work. */
export const isDatabaseFull = (error: unknown): boolean => (error as { code?: string }).code === '53100'
