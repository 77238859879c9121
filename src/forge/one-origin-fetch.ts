import { largeExcessOf } from '../core/json/parse-json.ts'
import { ForgeError } from './port.ts'

/** As `fetch` of src/egress: connects to checked addresses, and gives redirects as they are. */
export type PlainFetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<Response>

const REDIRECTS = [301, 302, 307, 308]
const MAX_REDIRECTS = 3

/**
 * Keeps requests, and the credentials in them, at one API: no response leads to another origin. Redirects, as
 * of a repository that was moved, are followed there with the same method and body. A JSON response is
 * counted before a library parses it. `forge`: its name in messages.
 */
export function oneOriginFetch(fetch: PlainFetch, api_url: string, forge: string): PlainFetch {
  const { origin } = new URL(api_url)
  return async (url, init = {}) => {
    let at = new URL(url)
    for (let hops = 0; ; hops++) {
      if (at.origin !== origin)
        throw new ForgeError('refused', `${forge}'s response leads to ${at.origin}, which is not followed.`)
      const response = await fetch(at.href, init)
      if (!REDIRECTS.includes(response.status)) return boundedJson(response, forge)
      const next = URL.parse(response.headers.get('location') ?? '', at.href)
      if (next === null || hops === MAX_REDIRECTS)
        throw new ForgeError('answer', `${forge} redirects without end, or to nowhere.`, {
          http_status: response.status,
        })
      at = next
    }
  }
}

async function boundedJson(response: Response, forge: string): Promise<Response> {
  const { status, headers, body } = response
  if (body === null || !/json/i.test(headers.get('content-type') ?? '')) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const excess = await largeExcessOf('forge_response', bytes)
  if (excess !== null)
    throw new ForgeError('answer', `${forge}'s response ${excess.message}.`, { http_status: status })
  return new Response(bytes, { status, headers })
}
