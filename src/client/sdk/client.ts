import { AgentRunError } from './error.ts'
import { followOrganization, hasSucceeded, isAtRest, type OrganizationEvent } from './follow.ts'
import type { Query, Result } from './operations.ts'
import { listed, type PagedList } from './paged.ts'
import { type CallOptions, type Core, createCore } from './request.ts'
import { createRuns, type Runs } from './runs.ts'

export type { FollowOptions, OrganizationEvent, RunEvent } from './follow.ts'
export type * from './operations.ts'
export type { PagedList } from './paged.ts'
export type { CallInput, CallOptions, Core } from './request.ts'
export type { LogPages, RunHandle, Runs } from './runs.ts'
export type { WaitOptions } from './wait.ts'
export { AgentRunError, hasSucceeded, isAtRest }

export type ClientOptions = {
  /** Where the service is, for example `http://127.0.0.1:4600`. */
  base_url: string
  /** Without a token, only operations that need none work. */
  token?: string
  /** Default: the token's only organization, requested once. */
  organization_id?: number
  fetch?: typeof fetch
  /** How often a request is retried when that can help, 4 by default; 0 never. */
  retries?: number
  /** For one attempt, 60 s by default; of a stream, until it begins. */
  timeout_ms?: number
  /** A longer `Retry-After` than this is an error at once; 60 s by default. */
  longest_wait_ms?: number
  /** Called with the failure before each wait and retry. */
  on_wait?: (error: AgentRunError, wait_ms: number) => void
}

export type Client = Core & {
  runs: Runs
  /** The organization that is used where no id is given. */
  organization(): Promise<number>
  organizations(
    query?: Query<'listOrganizations'>,
    options?: CallOptions,
  ): PagedList<Result<'listOrganizations'>, Result<'listOrganizations'>['items'][number]>
  repositories(
    query?: Query<'listRepositories'>,
    options?: CallOptions,
  ): PagedList<Result<'listRepositories'>, Result<'listRepositories'>['items'][number]>
  sandboxes(
    query?: Query<'listSandboxes'>,
    options?: CallOptions,
  ): PagedList<Result<'listSandboxes'>, Result<'listSandboxes'>['items'][number]>
  /** Status changes of all runs of the organization as they happen. */
  events(options?: { after_seq?: number; signal?: AbortSignal }): AsyncGenerator<OrganizationEvent>
}

/**
 * Returns a client of one service as one token. It sends nothing before it is used. Throws TypeError for an
 * address or a token that can be none.
 */
export function createClient(options: ClientOptions): Client {
  const base_url = options.base_url.replace(/(?<!\/)\/+$/, '')
  if (!/^https?:\/\/[^/?#]/.test(base_url)) throw new TypeError('base_url must be an http or https address')
  const { organization_id, token, fetch: given } = options
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('token must be printable ASCII without blanks')
  const organization =
    organization_id === undefined
      ? onlyOrganization(() => core.call('listOrganizations', { query: { limit: 100 } }))
      : () => Promise.resolve(organization_id)
  const core = createCore({
    base_url,
    credentials: { token: () => Promise.resolve(token) },
    organization,
    transport: {
      // A browser's fetch throws if it is called as a method of another object.
      fetch: (url, init) => (given ?? fetch)(url, init),
      retries: options.retries ?? 4,
      timeout_ms: options.timeout_ms ?? 60_000,
      longest_wait_ms: options.longest_wait_ms ?? 60_000,
      on_wait: options.on_wait,
    },
  })
  return {
    ...core,
    organization,
    runs: createRuns(core),
    organizations: (query = {}, more) =>
      listed(query, next => core.page('listOrganizations', { query: next, ...more })),
    repositories: (query = {}, more) =>
      listed(query, next => core.page('listRepositories', { query: next, ...more })),
    sandboxes: (query = {}, more) =>
      listed(query, next => core.page('listSandboxes', { query: next, ...more })),
    events: more => followOrganization(core, more),
  }
}

/**
 * Returns the organization of a client that names none: the only one of its token, requested once. Rejects
 * with AgentRunError when there is none or several.
 */
function onlyOrganization(list: () => Promise<Result<'listOrganizations'>>): () => Promise<number> {
  let organization: Promise<number> | null = null
  const findOnly = async () => {
    const { items, total } = await list().catch(error => Promise.reject(hinted(error)))
    const [first] = items
    if (first !== undefined && total === 1) return first.id
    const which = items.map(({ id, name }) => `${id} (${name})`).join(', ')
    const detail =
      total === 0
        ? 'The token belongs to no organization.'
        : `The token belongs to ${total} organizations, choose one: ${which}`
    throw new AgentRunError({ status: 0, code: 'organization_needed', detail })
  }
  return () => {
    organization ??= findOnly().catch(error => {
      organization = null
      throw error
    })
    return organization
  }
}

/** A token that may not list organizations can still be used with the id of one. */
function hinted(error: unknown): unknown {
  if (!(error instanceof AgentRunError) || error.status !== 403) return error
  const { status, code, errors, request_id, problem } = error
  return new AgentRunError({
    status,
    code,
    errors,
    request_id,
    problem,
    detail: `${error.detail} Name the organization, so that no lookup is needed.`,
  })
}
