import { z } from 'zod'
import { boundFetch, type PlainFetch } from '../bound-fetch.ts'
import { clockOf } from '../clock.ts'
import { answeredFailure, unreachedFailure } from '../failure.ts'
import { ForgeError } from '../port.ts'

/** `identity`: whose token it is, where the server said it before. */
export type GiteaSettings = { url: string; token: string; fetch: PlainFetch; user_agent: string; identity?: { login: string } | null }

type Query = Record<string, string>
type Answered = { headers: Headers; data: unknown }

/** As many as a server gives at once unless it is told otherwise; it may give fewer. */
const PER_PAGE = 50
/** Nobody has so many that matter to a run. */
export const MOST_PAGES = 50

/** Requests to one Gitea or Forgejo as one account. Of what it answers nothing is believed that is not of the wanted shape. */
export class GiteaClient {
  readonly #settings: GiteaSettings
  readonly #api: string
  readonly #fetch: PlainFetch
  /** What time it was there when it answered last, if it says that. */
  clock: Date | null = null

  constructor(settings: GiteaSettings) {
    this.#settings = settings
    this.#api = `${settings.url}/api/v1`
    this.#fetch = boundFetch(settings.fetch, this.#api, 'Gitea')
  }

  async get<S extends z.ZodType>(shape: S, path: string, query: Query = {}): Promise<z.output<S>> {
    return read(shape, (await this.#ask('GET', path, query)).data)
  }

  async send<S extends z.ZodType>(shape: S, method: 'POST' | 'PATCH', path: string, body: object): Promise<z.output<S>> {
    return read(shape, (await this.#ask(method, path, {}, body)).data)
  }

  /** Where nothing is answered but that it was done. */
  async nothing(method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
    await this.#ask(method, path, {}, body)
  }

  /** Page after page of a list, `most` at most. A server may give shorter pages than it was asked for, and says itself whether there are more. */
  async *pages<S extends z.ZodType>(shape: S, path: string, query: Query = {}, most = MOST_PAGES): AsyncGenerator<z.output<S>[]> {
    let seen = 0
    for (let page = 1; page <= most; page++) {
      const { data, headers } = await this.#ask('GET', path, { ...query, page: String(page), limit: String(PER_PAGE) })
      const rows = read(z.array(shape), data)
      if (rows.length > 0) yield rows
      seen += rows.length
      if (rows.length === 0 || !hasMore(headers, seen)) return
    }
  }

  async #ask(method: string, path: string, query: Query, body?: object): Promise<Answered> {
    const search = new URLSearchParams(query).toString()
    const { token, user_agent } = this.#settings
    const answer = await this.#fetch(`${this.#api}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: {
        ...{ accept: 'application/json', authorization: `token ${token}`, 'user-agent': user_agent },
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(error => {
      throw failureOf(error)
    })
    const { status, headers } = answer
    this.clock = clockOf(headers.get('date'))
    const said = await answer.text()
    const data = json(said)
    if (status >= 300)
      throw answeredFailure('Gitea', { status, headers: Object.fromEntries(headers), said: messageIn(data) ?? 'no message' })
    return { headers, data }
  }
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error
  return unreachedFailure('Gitea', error.cause instanceof Error ? error.cause : error)
}

/** By its `Link` where there is one, otherwise by its count of all; a list with neither goes on until a page is empty. */
function hasMore(headers: Headers, seen: number): boolean {
  const link = headers.get('link')
  if (link !== null) return /<[^>]*>;\s*rel="next"/.test(link)
  const total = headers.get('x-total-count')
  return total === null || seen < Number(total)
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const Problem = z.object({ message: z.string().min(1) })
const messageIn = (data: unknown): string | undefined => Problem.safeParse(data).data?.message

function read<S extends z.ZodType>(shape: S, data: unknown): z.output<S> {
  const parsed = shape.safeParse(data)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ForgeError('answer', `Gitea's answer cannot be read: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'it is not JSON'}`)
}
