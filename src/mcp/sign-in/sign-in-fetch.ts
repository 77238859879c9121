import type { FetchLike } from '@modelcontextprotocol/client'
import { excessOf } from '../../core/json/parse-json.ts'

/**
 * A `fetch` of the service itself, which decides what may be reached and bounds each response in time and
 * size.
 */
type BoundedFetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>

/**
 * What a sign-in reaches. `allow_private`: by the operator's choice, which permits loopback addresses without
 * TLS.
 */
export type SignInAccess = { fetch: BoundedFetch; allow_private: boolean }

/**
 * Returns the `fetch` of one sign-in, whose requests end with `signal`. Every address is that of a stranger:
 * it must be secure, and redirects are errors.
 */
export function signInFetch({ fetch, allow_private }: SignInAccess, signal: AbortSignal): FetchLike {
  return async (url, init = {}) => {
    const to = String(url)
    const refusal = insecure(to, allow_private)
    if (refusal !== null) throw new TypeError(`${shown(to)} ${refusal}`)
    const { method = 'GET', headers, body } = init
    const text = body == null ? undefined : String(body)
    const response = await fetch(to, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      signal,
      ...(text !== undefined && { body: text }),
    })
    if (response.status >= 300 && response.status < 400)
      throw new TypeError(`${shown(to)} redirects, which is not followed`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const excess = excessOf('oauth_response', bytes)
    if (excess !== null) throw new TypeError(`the response of ${shown(to)} ${excess.message}`)
    return response.body === null ? response : new Response(bytes, response)
  }
}

/** Returns why an address of a sign-in is refused; null: it is not. */
export function insecure(address: string, allow_private: boolean): string | null {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an https address'
  if (url.username !== '' || url.password !== '') return 'contains credentials'
  const is_loopback = /^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (is_loopback && allow_private) ? null : 'must be an https address'
}

const MAX_SHOWN_ADDRESS = 200
const shown = (address: string) => address.split('?')[0]?.slice(0, MAX_SHOWN_ADDRESS) ?? ''
