import { storedJson } from '../../core/json/stored-json.ts'
import { AgentRunError } from './error.ts'
import type { Body, OperationName, Params, Query, Result } from './operations.ts'
import { routes } from './routes.ts'
import { type Outgoing, send, type Transport } from './send.ts'

export type CallOptions = {
  signal?: AbortSignal
  /** Sent as well; they replace the client's own. */
  headers?: Record<string, string>
  /**
   * Create, resume and fork get a random one, the same for all attempts; `null` sends none, and then they are
   * not repeated.
   */
  idempotency_key?: string | null
  /**
   * Declares that the request may arrive twice, so that it is also repeated after a cut connection. Reading
   * always may.
   */
  repeatable?: boolean
}

type Part<K extends string, T> = undefined extends T
  ? { [P in K]?: T }
  : Partial<T> extends T
    ? { [P in K]?: T }
    : { [P in K]: T }

/** What an operation takes. `params` without `org_id`: the client's organization. */
export type CallInput<N extends OperationName> = Part<'params', Params<N>> &
  Part<'query', Query<N>> &
  Part<'body', Body<N>> &
  CallOptions

/** The input may be left out when nothing of it is required. */
type InputArguments<N extends OperationName> =
  Partial<CallInput<N>> extends CallInput<N> ? [input?: CallInput<N>] : [input: CallInput<N>]

/** Operations that return JSON; the others are for `request`. */
type JsonName = { [N in OperationName]: [Result<N>] extends [never] ? never : N }[OperationName]

export type Core = {
  /** Calls an operation of the table and returns its JSON. Rejects with AgentRunError. */
  call<N extends JsonName>(name: N, ...input: InputArguments<N>): Promise<Result<N>>
  /** Calls a list and returns its page with the cursor of the next one; null: it was the last. */
  page<N extends JsonName>(
    name: N,
    ...input: InputArguments<N>
  ): Promise<{ page: Result<N>; cursor: string | null }>
  /** The response of an operation once it is a success: for streams, patches and files. */
  request<N extends OperationName>(name: N, ...input: InputArguments<N>): Promise<Response>
}

type LooseOptions = CallOptions & {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/** Where bearer tokens come from. */
type Credentials = {
  /** The token of the next request; undefined sends none. */
  token(): Promise<string | undefined>
  /**
   * Discards a token that was refused with 401; the request is then repeated once with the next one. Without
   * it a 401 is final.
   */
  discard?(token: string): void
}

export type CoreOptions = {
  /** Where the service is; empty for the origin of the page that calls. */
  base_url: string
  credentials: Credentials
  transport: Transport
  organization: () => Promise<number>
}

/**
 * Returns the calls and streams of all operations, with the token, organization and idempotency key that each
 * needs. Failures are AgentRunError.
 */
export function createCore(options: CoreOptions): Core {
  const { credentials } = options

  async function outgoing(
    name: OperationName,
    input: LooseOptions,
    accept: string,
  ): Promise<Outgoing & { token: string | undefined }> {
    const { method, path, access, keyed } = routes[name]
    const needs_organization = path.includes('{org_id}') && input.params?.org_id === undefined
    const params = needs_organization
      ? { ...input.params, org_id: await options.organization() }
      : input.params
    const key = keyed && input.idempotency_key === undefined ? randomKey() : input.idempotency_key
    const token = access === 'token' ? await credentials.token() : undefined
    const headers: Record<string, string> = { accept }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    if (input.body !== undefined) headers['content-type'] = 'application/json'
    if (key != null) headers['idempotency-key'] = key
    return {
      token,
      method,
      url: `${options.base_url}${pathWith(path, params ?? {})}${search(input.query ?? {})}`,
      headers: { ...headers, ...input.headers },
      body: input.body === undefined ? null : JSON.stringify(input.body),
      signal: input.signal,
      repeatable: input.repeatable ?? (method === 'GET' || key != null),
    }
  }

  async function perform<T>(
    name: OperationName,
    input: LooseOptions,
    accept: string,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { token, ...request } = await outgoing(name, input, accept)
    try {
      return await send(options.transport, request, read)
    } catch (error) {
      const refused = error instanceof AgentRunError && error.status === 401
      if (!refused || token === undefined || credentials.discard === undefined) throw error
      credentials.discard(token)
      return send(options.transport, await outgoing(name, input, accept), read)
    }
  }

  return {
    async call(name, ...[input = {}]) {
      const { text, url } = await perform(name, input as LooseOptions, 'application/json', textOf)
      return parsed(text, url)
    },
    async page(name, ...[input = {}]) {
      const { text, url, link } = await perform(name, input as LooseOptions, 'application/json', textOf)
      return { page: parsed(text, url), cursor: nextCursor(link) }
    },
    request: (name, ...[input = {}]) =>
      perform(name, input as LooseOptions, '*/*', response => Promise.resolve(response)),
  }
}

const textOf = async (response: Response) => ({
  text: await response.text(),
  url: response.url,
  link: response.headers.get('link'),
})

/**
 * Returns the cursor in the address of the next page (RFC 8288), which is sent to the client's own address of
 * the service.
 */
function nextCursor(link: string | null): string | null {
  const next = /<([^<>]*)>; rel="next"/.exec(link ?? '')?.[1]
  return next === undefined ? null : new URL(next, 'http://localhost').searchParams.get('cursor')
}

function parsed<T>(text: string, url: string): T {
  try {
    return storedJson<T>(text)
  } catch (cause) {
    throw new AgentRunError({
      status: 200,
      code: 'unexpected',
      detail: `The response of ${url} is not JSON: is it the service?`,
      cause,
    })
  }
}

function pathWith(path: string, params: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = params[name]
    if (value === undefined) throw new TypeError(`${name} is missing in params`)
    return encodeURIComponent(String(value))
  })
}

function search(query: Record<string, unknown>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null) given.append(name, String(one))
  return given.size === 0 ? '' : `?${given}`
}

/** 128 random bits. `crypto.randomUUID` is missing in pages that came by plain http. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
