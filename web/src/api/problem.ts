import type { FieldError, Problem } from '../../../src/contract/problem.ts'

/** An answer that is not a success, or none at all (`status` 0: the service could not be reached). */
export class ProblemError extends Error {
  override name = 'ProblemError'
  readonly status: number
  readonly code: string
  readonly errors: FieldError[]
  /** Milliseconds the service asked to wait, from Retry-After. */
  readonly retry_after_ms: number | null
  constructor(status: number, code: string, message: string, errors: FieldError[] = [], retry_after_ms: number | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.errors = errors
    this.retry_after_ms = retry_after_ms
  }
}

/** The problem object of a failed response; a body that is no problem object becomes one. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const seconds = Number(response.headers.get('retry-after'))
  const wait = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null
  const body: Partial<Problem> | null = await response.json().catch(() => null)
  if (typeof body?.detail !== 'string') {
    return new ProblemError(
      response.status,
      'unexpected',
      `The service answered ${response.status} ${response.statusText}`.trim(),
      [],
      wait,
    )
  }
  return new ProblemError(response.status, body.code ?? 'unexpected', body.detail, body.errors ?? [], wait)
}

/** A failed fetch, as a problem. An abort stays what it is. */
export function unreachable(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error
  return new ProblemError(0, 'unreachable', 'The service does not answer. It may be stopped or restarting.')
}

/** Messages by field name, for forms: the last part of each `loc`, with those inside `budget` named `budget.<field>`. */
export function fieldMessages(error: unknown): Record<string, string> {
  if (!(error instanceof ProblemError)) return {}
  const messages: Record<string, string> = {}
  for (const { loc, msg } of error.errors) {
    const names = loc.filter((part, index) => typeof part === 'string' && !(index === 0 && part === 'body'))
    messages[names.join('.')] ??= msg
  }
  return messages
}
