const MAX_CHARACTERS = 300

/**
 * Returns the reason of a failed sign-in as people read it: one line of text of limited length, which
 * strangers may have written.
 */
export function problemText(error: unknown): string {
  const text = [...messages(error)].join(': ').replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
  return [...text.toWellFormed().trim()].slice(0, MAX_CHARACTERS).join('')
}

/**
 * The reason of a failed request is the cause of what `fetch` throws; the fields of invalid metadata are the
 * issues of their schema.
 */
function* messages(error: unknown): Generator<string> {
  if (!(error instanceof Error)) return yield String(error)
  const issues = 'issues' in error && Array.isArray(error.issues) ? error.issues : []
  const [first] = issues as { path?: unknown[]; message?: string }[]
  if (first !== undefined)
    return yield `an invalid response: ${first.path?.join('.') ?? ''}: ${first.message ?? ''}`
  if (error.message !== 'fetch failed' || error.cause === undefined) yield error.message
  if (error.cause !== undefined) yield* messages(error.cause)
}
