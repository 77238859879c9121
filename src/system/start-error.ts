/** How the kernel, Node and the programs of the embedded database report a full disk. */
const FULL = /\b(?:ENOSPC|EDQUOT)\b|no space left on device|disk quota exceeded/i

/** Returns whether an error of the file system or the message of a program reports a full disk. */
export const reportsFullDisk = (error: unknown): boolean => FULL.test(messageOf(error))

/**
 * Returns the line that a person reads after a start that failed. For a full disk it states what to do; the
 * messages of other errors do so.
 */
export function startErrorText(error: unknown): string {
  const message = messageOf(error)
  if (!reportsFullDisk(error)) return message
  return `the disk is full (${message}): free space on the disk of the data folder, and on that of the database if DATABASE_URL names another one`
}

const messageOf = (error: unknown): string =>
  String((error as { message?: unknown } | null)?.message ?? error)
