/**
 * Returns the message of an error in one line, without its stack; some errors of the network have only a
 * code.
 */
export function causeText(error: unknown): string {
  const { message, code, name } = error as Error & { code?: string }
  return (message || code || name || 'unknown').split('\n')[0] ?? ''
}
