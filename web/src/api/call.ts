import type { z } from 'zod'
import type { Endpoints } from '../../../src/contract/endpoints.ts'
import { problemOf, unreachable } from './problem.ts'
import { pathOf, type RouteName, routes } from './routes.ts'
import { session } from './session.ts'

type BodyOf<N extends RouteName> = Endpoints[N]['body'] extends z.ZodType ? z.input<Endpoints[N]['body']> : undefined
export type AnswerOf<N extends RouteName> = Endpoints[N]['response'] extends z.ZodType ? z.output<Endpoints[N]['response']> : never

export type Request<N extends RouteName> = {
  /** `org_id` is filled in from the session. */
  params?: { agent_run_id?: number; pr_id?: number; comment_id?: number; artifact_id?: number; environment_id?: number; repo_id?: number }
  query?: Partial<z.input<Endpoints[N]['query']>>
  body?: BodyOf<N>
  signal?: AbortSignal
}

/** Calls one operation of the contract as the signed-in user. Rejects with ProblemError, or AbortError when `signal` fires. */
export async function call<N extends RouteName>(name: N, request: Request<N> = {}): Promise<AnswerOf<N>> {
  const response = await authorized(name, request)
  return response.json()
}

/** The response of one operation; an expired token is renewed and the call repeated once. */
export async function authorized<N extends RouteName>(
  name: N,
  request: Request<N>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const first = await send(name, request, headers)
  if (first.response.status !== 401) return succeeded(first.response)
  session.forget(first.token)
  return succeeded((await send(name, request, headers)).response)
}

async function send<N extends RouteName>(name: N, { params, query, body, signal }: Request<N>, headers: Record<string, string>) {
  const { token, organization_id } = await session.current()
  const search = new URLSearchParams(
    Object.entries(query ?? {}).flatMap(([key, value]) => [value].flat().flatMap(one => (one == null ? [] : [[key, String(one)]]))),
  )
  const url = pathOf(name, { ...params, org_id: organization_id }) + (search.size ? `?${search}` : '')
  const response = await fetch(url, {
    method: routes[name].method,
    headers: { ...headers, authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }).catch(error => Promise.reject(unreachable(error)))
  return { token, response }
}

async function succeeded(response: Response): Promise<Response> {
  if (!response.ok) throw await problemOf(response)
  return response
}
