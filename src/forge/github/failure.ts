import { RequestError } from '@octokit/request-error'
import { answeredFailure, unreachedFailure } from '../failure.ts'
import { ForgeError, type ForgeErrorCode } from '../port.ts'
import { shown } from '../texts.ts'

/** What octokit threw, as the port has it. Whatever is no failure of a request goes on as it is. */
export function forgeErrorFrom(error: unknown): unknown {
  if (isGraphqlError(error)) return graphqlFailure(error)
  if (error instanceof ForgeError || !(error instanceof RequestError)) return error
  if (error.cause instanceof ForgeError) return error.cause
  const { response } = error
  if (!response) return unreachedFailure('GitHub', error)
  return answeredFailure('GitHub', { status: response.status, headers: response.headers, said: saidIn(response.data) })
}

type GraphqlError = Error & { errors?: { type?: unknown }[]; data?: unknown }
const isGraphqlError = (error: unknown): error is GraphqlError => error instanceof Error && error.name === 'GraphqlResponseError'

const GRAPHQL_CODES: Record<string, ForgeErrorCode> = {
  ...{ RATE_LIMITED: 'rate_limited', RATE_LIMIT: 'rate_limited', NOT_FOUND: 'not_found' },
  ...{ FORBIDDEN: 'forbidden', INSUFFICIENT_SCOPES: 'forbidden', UNPROCESSABLE: 'refused' },
}
const LIMITED_SECONDS = 60

/** GraphQL answers 200 and says what went wrong; where it does not know itself, it says no type. */
function graphqlFailure({ message, errors }: GraphqlError): ForgeError {
  const type = errors?.[0]?.type
  const code = typeof type === 'string' ? (GRAPHQL_CODES[type] ?? 'refused') : 'server_error'
  const retry_after_seconds = code === 'rate_limited' ? LIMITED_SECONDS : null
  return new ForgeError(code, `GitHub answered: ${shown(message)}`, { http_status: 200, retry_after_seconds })
}

/** What was answered, also where some of what was asked for is not there any more. */
export async function graphqlData<T extends object>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const { data, errors } = isGraphqlError(error) ? error : {}
    if (typeof data === 'object' && data !== null && errors?.every(({ type }) => type === 'NOT_FOUND')) return data as T
    throw error
  }
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

/** What is made of an answer. One that is not of its shape, which nothing else looks at, stops that somewhere. */
export async function readable<T>(made: Promise<T>): Promise<T> {
  try {
    return await made
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    throw new ForgeError('answer', `GitHub's answer cannot be read: ${shown(error.message)}`)
  }
}
