import { RequestError } from '@octokit/request-error'
import { connectionFailure, responseFailure } from '../failure.ts'
import { ForgeError, type ForgeErrorCode, type RemoteForge } from '../port.ts'
import { shown } from '../texts.ts'

/**
 * Returns an error of octokit as an error of the port. Errors that are not a failed request are returned
 * unchanged.
 */
export function forgeErrorFrom(error: unknown): unknown {
  if (isGraphqlError(error)) return graphqlFailure(error)
  if (error instanceof ForgeError || !(error instanceof RequestError)) return error
  if (error.cause instanceof ForgeError) return error.cause
  const { response } = error
  if (!response) return connectionFailure('GitHub', error)
  return responseFailure('GitHub', {
    status: response.status,
    headers: response.headers,
    text: messageIn(response.data),
  })
}

type GraphqlError = Error & { errors?: { type?: unknown }[]; data?: unknown }
const isGraphqlError = (error: unknown): error is GraphqlError =>
  error instanceof Error && error.name === 'GraphqlResponseError'

const GRAPHQL_CODES: Record<string, ForgeErrorCode> = {
  RATE_LIMITED: 'rate_limited',
  RATE_LIMIT: 'rate_limited',
  NOT_FOUND: 'not_found',
  FORBIDDEN: 'forbidden',
  INSUFFICIENT_SCOPES: 'forbidden',
  UNPROCESSABLE: 'refused',
}
const LIMITED_SECONDS = 60

/** GraphQL responds with 200 and a list of errors; an internal error has no type. */
function graphqlFailure({ message, errors }: GraphqlError): ForgeError {
  const type = errors?.[0]?.type
  const code = typeof type === 'string' ? (GRAPHQL_CODES[type] ?? 'refused') : 'server_error'
  const retry_after_seconds = code === 'rate_limited' ? LIMITED_SECONDS : null
  return new ForgeError(code, `GitHub responded: ${shown(message)}`, {
    http_status: 200,
    retry_after_seconds,
  })
}

/** Returns the data of a response, also where some of the requested nodes no longer exist. */
export async function graphqlData<T extends object>(response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (error) {
    const { data, errors } = isGraphqlError(error) ? error : {}
    if (typeof data === 'object' && data !== null && errors?.every(({ type }) => type === 'NOT_FOUND'))
      return data as T
    throw error
  }
}

/** `message` and the error of each field. */
function messageIn(data: unknown): string {
  if (typeof data !== 'object' || data === null) return String(data ?? '')
  const { message, errors } = data as { message?: unknown; errors?: unknown }
  const details = Array.isArray(errors) ? errors.map(detailOf).filter(text => text !== '') : []
  return [typeof message === 'string' ? message : 'no message', ...details].join('; ')
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  const { message, resource, field, code } = error as Record<string, unknown>
  return typeof message === 'string'
    ? message
    : [resource, field, code].filter(part => typeof part === 'string').join(' ')
}

/**
 * The last barrier: what octokit itself cannot read of a malformed response is an error of the port too, in
 * every method.
 */
export function readableForge(forge: RemoteForge): RemoteForge {
  const readable =
    (method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      try {
        return await method(...args)
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error
        throw new ForgeError('answer', `GitHub's response cannot be read: ${shown(error.message)}`)
      }
    }
  const methods = Object.entries(forge).map(([name, method]) => [
    name,
    typeof method === 'function' ? readable(method) : method,
  ])
  return Object.fromEntries(methods) as RemoteForge
}
