import type { FieldError, ProblemCode } from '../contract/error-codes.ts'

/**
 * The one error that a verb throws to its caller. The code determines the status; `message` is shown to the
 * client.
 */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly code: ProblemCode
  readonly errors: FieldError[]
  readonly headers: Record<string, string>
  constructor(
    code: ProblemCode,
    message: string,
    details: { errors?: FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.code = code
    this.errors = details.errors ?? []
    this.headers = details.headers ?? {}
  }
}

/** Returns the error for an invalid value of the client, with the name of its field. */
export function invalid(loc: (string | number)[], msg: string, type = 'value_error'): ServiceError {
  return new ServiceError('invalid_request', `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`, {
    errors: [{ loc, msg, type }],
  })
}
