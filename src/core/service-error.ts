import type { FieldError, ProblemCode } from '../contract/problem.ts'

/** The one error that a verb throws at its caller. The code decides the status; `message` is shown to the client. */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly code: ProblemCode
  readonly errors: FieldError[]
  readonly headers: Record<string, string>
  constructor(code: ProblemCode, message: string, details: { errors?: FieldError[]; headers?: Record<string, string> } = {}) {
    super(message)
    this.code = code
    this.errors = details.errors ?? []
    this.headers = details.headers ?? {}
  }
}

/** A value the client sent that cannot be taken: names the field. */
export function invalid(loc: (string | number)[], msg: string, type = 'value_error'): ServiceError {
  return new ServiceError('invalid_request', `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`, { errors: [{ loc, msg, type }] })
}
