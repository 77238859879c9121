import { z } from 'zod'
import { id } from './decimal.ts'
import type { ProblemCode } from './problem.ts'
import type { Tag } from './tags.ts'

/** What a token may do (specification.md#access). */
export const scopes = ['runs:read', 'runs:write', 'logs:read', 'repos:read', 'repos:admin', 'org:read', 'org:admin'] as const
export type Scope = (typeof scopes)[number]

/**
 * Whose limit a request is charged to (specification.md#rate-limits). `logs` is the standard bucket with the token's total as a second bound.
 * Null: no token asks, so nothing is counted.
 */
export type Bucket = 'standard' | 'agent_creation' | 'setup_commands' | 'log_analysis' | 'tool_execution' | 'recording' | 'logs'

export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** Other paths that existing clients call for the same operation (specification.md#wire-profiles). */
  aliases?: readonly string[]
  /** The chapter of the reference. */
  tag: Tag
  summary: string
  /** What a caller should know beyond the summary: side effects, idempotency, what is not said. */
  description?: string
  /** `token`: bearer token; `cookie`: the browser's sign-in cookie, good for /session alone; `public`: nothing. */
  access: 'token' | 'cookie' | 'public'
  /** Null with `token`: any token will do. */
  scope: Scope | null
  bucket: Bucket | null
  stability: 'stable' | 'alpha'
  params: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  /** `stream` answers server-sent events, `document` the OpenAPI document, `file` bytes that are saved as they come. */
  response: z.ZodType | 'stream' | 'document' | 'file'
  /** Another body of a success, and when it is answered. */
  variant?: { when: string; response: z.ZodType }
  /** For tokens that are bound to repositories, where core/reach.ts cannot tell by the fields. `verb`: the verb looks after all of it. */
  reach?: 'filtered' | 'free' | 'none' | 'verb'
  /** Content types that it can answer besides JSON. */
  also_answers?: readonly string[]
  /** Refusals of this operation's own, beside those that every operation of its kind can answer (problem-statuses.ts). */
  problems?: readonly ProblemCode[]
  /** Takes `Idempotency-Key` (specification.md#create-and-resume). */
  idempotent?: boolean
  /** Where the example of the schema, `meta({ examples: [...] })`, does not fit this operation. Of a stream: a piece of it. */
  examples?: { body?: unknown; response?: unknown }
}

/** Every path at which an operation is served, its own first. */
export const pathsOf = ({ path, aliases = [] }: Pick<Endpoint, 'path' | 'aliases'>): string[] => [path, ...aliases]

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
