import { z } from 'zod'
import { responseJson } from '../../core/json/parse-json.ts'
import { clockOf } from '../clock.ts'
import { connectionFailure, responseFailure } from '../failure.ts'
import { oneOriginFetch, type PlainFetch } from '../one-origin-fetch.ts'
import { readResponse } from '../read-response.ts'

/** `identity`: the account of the token, where it is known. */
export type GiteaSettings = {
  url: string
  token: string
  fetch: PlainFetch
  user_agent: string
  identity?: { login: string } | null
}

type Query = Record<string, string>
type Response = { headers: Headers; data: unknown }

/** The default limit of a server; it may return fewer. */
const PER_PAGE = 50
/** Of one page: a server may have a larger limit than its default, and refuses or cuts what is requested. */
const MAX_ROWS = 1_000
/** More than matter to a run. */
export const MAX_PAGES = 50

/** Requests to one Gitea or Forgejo as one account. Responses are parsed by their schemas. */
export class GiteaClient {
  readonly #settings: GiteaSettings
  readonly #api: string
  readonly #fetch: PlainFetch
  /** The time of the server at its last response, if it reports that. */
  clock: Date | null = null

  constructor(settings: GiteaSettings) {
    this.#settings = settings
    this.#api = `${settings.url}/api/v1`
    this.#fetch = oneOriginFetch(settings.fetch, this.#api, 'Gitea')
  }

  async get<S extends z.ZodType>(shape: S, path: string, query: Query = {}): Promise<z.output<S>> {
    return readResponse('Gitea', shape, (await this.#request('GET', path, query)).data)
  }

  async send<S extends z.ZodType>(
    shape: S,
    method: 'POST' | 'PATCH',
    path: string,
    body: object,
  ): Promise<z.output<S>> {
    return readResponse('Gitea', shape, (await this.#request(method, path, {}, body)).data)
  }

  /** For requests whose response has no body. */
  async nothing(method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
    await this.#request(method, path, {}, body)
  }

  /**
   * The pages of a list. A server may return shorter pages than requested, and reports itself whether there
   * are more.
   */
  async *pages<S extends z.ZodType>(
    shape: S,
    path: string,
    query: Query = {},
    max_pages = MAX_PAGES,
  ): AsyncGenerator<z.output<S>[]> {
    let seen = 0
    for (let page = 1; page <= max_pages; page++) {
      const { data, headers } = await this.#request('GET', path, {
        ...query,
        page: String(page),
        limit: String(PER_PAGE),
      })
      const rows = readResponse('Gitea', z.array(shape).max(MAX_ROWS), data)
      if (rows.length > 0) yield rows
      seen += rows.length
      if (rows.length === 0 || !hasMore(headers, seen)) return
    }
  }

  async #request(method: string, path: string, query: Query, body?: object): Promise<Response> {
    const search = new URLSearchParams(query).toString()
    const { token, user_agent } = this.#settings
    const response = await this.#fetch(`${this.#api}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `token ${token}`,
        'user-agent': user_agent,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(error => {
      throw failureOf(error)
    })
    const { status, headers } = response
    this.clock = clockOf(headers.get('date'))
    const data = await responseJson('forge_response', response)
    if (status >= 300)
      throw responseFailure('Gitea', {
        status,
        headers: Object.fromEntries(headers),
        text: messageIn(data) ?? 'no message',
      })
    return { headers, data }
  }
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error
  return connectionFailure('Gitea', error.cause instanceof Error ? error.cause : error)
}

/**
 * By its `Link` header, otherwise by its total count; a list with neither continues until a page is empty.
 */
function hasMore(headers: Headers, seen: number): boolean {
  const link = headers.get('link')
  if (link !== null) return /<[^<>]*>;\s*rel="next"/.test(link)
  const total = headers.get('x-total-count')
  return total === null || seen < Number(total)
}

const Problem = z.object({ message: z.string().min(1) })
const messageIn = (data: unknown): string | undefined => Problem.safeParse(data).data?.message
