import type { HealthCheck } from '../contract/organizations/organization-limits.ts'
import { deadline } from '../core/deadline.ts'
import { broken, ok, warning } from '../core/health-checks.ts'
import { responseJson } from '../core/json/parse-json.ts'
import { causeText } from './cause-text.ts'

const TIMEOUT_MS = 5_000
/** Large enough to be compressed. */
const LARGE = '/openapi.json'

/**
 * Checks the public address as clients use it, through what is in front of the service. The event stream
 * needs a token with the scope `runs:read` and its organization.
 */
export async function checkOutside(base_url: string, token: string | null): Promise<HealthCheck[]> {
  const ready = await get(base_url, '/readyz', {})
  if (ready instanceof Error)
    return [
      broken(
        'address',
        `${base_url} cannot be reached from here: ${causeOf(ready)}`,
        'check name, port, certificate and the proxy; AGENTRUN_BASE_URL is the address that clients use',
      ),
    ]
  await ready.body?.cancel()
  if (ready.status !== 200)
    return [
      broken(
        'address',
        `${base_url}/readyz returns ${ready.status}`,
        'see the log of the proxy and of the processes that serve',
      ),
    ]
  return [ok('address', base_url), await checkCompression(base_url), await checkStream(base_url, token)]
}

async function checkCompression(base_url: string): Promise<HealthCheck> {
  const response = await get(base_url, LARGE, { 'accept-encoding': 'gzip' })
  if (response instanceof Error)
    return broken('compression', `${LARGE}: ${causeOf(response)}`, 'see the log of the proxy')
  const encoding = response.headers.get('content-encoding')
  const valid = await responseJson('client_response', response).then(
    body => body !== undefined,
    () => false,
  )
  if (!valid)
    return broken('compression', `${LARGE} arrives damaged`, 'let the proxy not compress: the service does')
  if (encoding === 'gzip') return ok('compression', 'gzip')
  return warning(
    'compression',
    'responses arrive uncompressed',
    'let the proxy pass Accept-Encoding and Content-Encoding on',
  )
}

/** A stream sends its first bytes at once; a proxy that buffers holds them back. */
async function checkStream(base_url: string, token: string | null): Promise<HealthCheck> {
  if (token === null) return ok('events', 'not checked: set AGENTRUN_TOKEN, or run "agentrun doctor"')
  const me = await get(base_url, '/v1/organizations', authorized(token))
  if (me instanceof Error) return broken('events', causeOf(me), 'see the log of the proxy')
  const body = await responseJson('client_response', me).catch(() => null)
  const id = firstId(body)
  if (id === null)
    return broken('events', `the token is refused (${me.status})`, 'set AGENTRUN_TOKEN to a valid token')
  using limit = deadline(TIMEOUT_MS)
  try {
    const response = await fetch(`${base_url}/v1/organizations/${id}/events`, {
      headers: authorized(token),
      signal: limit.signal,
    })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    return response.status === 200
      ? ok('events', 'come through')
      : broken('events', `refused (${response.status})`, 'use a token with runs:read')
  } catch {
    return broken(
      'events',
      'the stream opens, but nothing comes through',
      'let the proxy pass text/event-stream on without buffering',
    )
  }
}

const authorized = (token: string) => ({ authorization: `Bearer ${token}` })

function firstId(body: unknown): number | null {
  const { items } = Object(body)
  const id: unknown = Array.isArray(items) ? Object(items[0]).id : null
  return typeof id === 'number' ? id : null
}

/** `fetch` failed, and why. */
const causeOf = (error: Error) => causeText(error.cause ?? error)

async function get(
  base_url: string,
  path: string,
  headers: Record<string, string>,
): Promise<Response | Error> {
  try {
    return await fetch(base_url + path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch (error) {
    return error as Error
  }
}
