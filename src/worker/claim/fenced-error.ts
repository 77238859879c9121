/** Another worker owns the run: the write was rejected, and this worker stops. */
export class FencedError extends Error {
  override name = 'FencedError'
}

/**
 * Returns the result of a statement that names the epoch. Throws `FencedError` when the statement matched no
 * row.
 */
export function requireOwned<T>(result: T): Exclude<T, false | null | undefined> {
  if (result === false || result === null || result === undefined)
    throw new FencedError('the run belongs to another worker')
  return result as Exclude<T, false | null | undefined>
}
