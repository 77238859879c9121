import { RequestError } from '@octokit/request-error'
import { answeredFailure, unreachedFailure } from '../failure.ts'
import { ForgeError } from '../port.ts'

/** What octokit threw, as the port has it. Whatever is no failure of a request goes on as it is. */
export function forgeErrorFrom(error: unknown): unknown {
  if (error instanceof ForgeError || !(error instanceof RequestError)) return error
  if (error.cause instanceof ForgeError) return error.cause
  const { response } = error
  if (!response) return unreachedFailure('GitHub', error)
  return answeredFailure('GitHub', { status: response.status, headers: response.headers, said: saidIn(response.data) })
}

/** `message` and what it says of each field. */
function saidIn(data: unknown): string {
  if (typeof data !== 'object' || data === null) return String(data ?? '')
  const { message, errors } = data as { message?: unknown; errors?: unknown }
  const details = Array.isArray(errors) ? errors.map(detailOf).filter(text => text !== '') : []
  return [typeof message === 'string' ? message : 'no message', ...details].join('; ')
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  const { message, resource, field, code } = error as Record<string, unknown>
  return typeof message === 'string' ? message : [resource, field, code].filter(part => typeof part === 'string').join(' ')
}
