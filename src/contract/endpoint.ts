import { z } from 'zod'
import { id } from './decimal.ts'
import type { ProblemCode } from './error-codes.ts'
import type { Tag } from './tags.ts'

/** The scopes of a token (specification.md#access). */
export const scopes = [
  'runs:read',
  'runs:write',
  'logs:read',
  'repos:read',
  'repos:admin',
  'org:read',
  'org:admin',
] as const
export type Scope = (typeof scopes)[number]

/**
 * The rate limit that a request is charged to (specification.md#rate-limits). `logs` is the standard bucket
 * with the token's total as a second limit. Null: there is no token, so nothing is counted.
 */
export type Bucket =
  | 'standard'
  | 'agent_creation'
  | 'setup_commands'
  | 'log_analysis'
  | 'tool_execution'
  | 'recording'
  | 'logs'

export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** Other paths that existing clients call for the same operation (specification.md#wire-profiles). */
  aliases?: readonly string[]
  /** The section of the reference. */
  tag: Tag
  summary: string
  /** What a caller must know beyond the summary: side effects, idempotency, omissions. */
  description?: string
  /**
   * `token`: bearer token; `cookie`: the browser's sign-in cookie, good for /session alone; `public`:
   * nothing.
   */
  access: 'token' | 'cookie' | 'public'
  /** Null with `token`: any token is accepted. */
  scope: Scope | null
  bucket: Bucket | null
  stability: 'stable' | 'alpha'
  params: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  /**
   * `stream` responds with server-sent events, `document` with the OpenAPI document, `file` with bytes that
   * are saved unchanged.
   */
  response: z.ZodType | 'stream' | 'document' | 'file'
  /**
   * For tokens that are limited to repositories, where core/access/reach.ts cannot decide from the fields.
   * `verb`: the verb decides.
   */
  reach?: 'filtered' | 'free' | 'none' | 'verb'
  /** Content types of responses other than JSON. */
  other_content_types?: readonly string[]
  /**
   * Problems specific to this operation, in addition to those of every operation of its kind
   * (documented-statuses.ts).
   */
  problems?: readonly ProblemCode[]
  /** Takes `Idempotency-Key` (specification.md#create-and-resume). */
  idempotent?: boolean
  /**
   * The field that orders the items of a list with `cursor`, `id` by default; `position`: their order is that
   * of a list that only grows.
   */
  ordered_by?: 'id' | 'user_id' | 'name' | 'seq' | 'position'
  /**
   * Replaces the example of the schema, `meta({ examples: [...] })`, for this operation. For a stream: an
   * extract.
   */
  examples?: { body?: unknown; response?: unknown }
}

/** Returns every path at which an operation is served, its own first. */
export const pathsOf = ({ path, aliases = [] }: Pick<Endpoint, 'path' | 'aliases'>): string[] => [
  path,
  ...aliases,
]

/**
 * Returns the methods at which an operation is served: HEAD wherever GET, with the headers of its response.
 */
export const methodsOf = ({ method }: Pick<Endpoint, 'method'>): ('HEAD' | Endpoint['method'])[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method]

export const none = z.object({})
export const org = z.object({ org_id: id().describe('The organization') })
export const repository = org.extend({ repo_id: id().describe('The repository') })
export const run = org.extend({ agent_run_id: id().describe('The run') })
export const v1 = { access: 'token', stability: 'stable', query: none, body: null } as const
export const open = {
  access: 'public',
  tag: 'service',
  scope: null,
  bucket: null,
  stability: 'stable',
  params: none,
  query: none,
  body: null,
} as const

/**
 * Returns whether a path is of a version that only clients of the Codegen API know, so a token that is
 * unknown there is refused in their form: plain JSON (specification.md#errors).
 */
export const isOtherVersion = (path: string): boolean => /^\/v1\/(alpha|beta)\//.test(path)
