import type { WebhookEvent } from '../../src/contract/organizations/webhook-events.ts'
import type { PullRequestReview, PullRequestState } from '../../src/contract/pull-requests/pull-requests.ts'
import type { SandboxKind, SandboxState } from '../../src/contract/repositories/sandboxes.ts'
import type { MessageType } from '../../src/contract/runs/logs.ts'
import type { RunStatus, SourceType, StatusReason } from '../../src/contract/runs/runs.ts'
import {
  deliveryStates,
  MessageTypes,
  RunStatuses,
  reasonNames,
  sourceNames,
  webhookEvents,
} from './api/names.ts'

/** The search parameters of each page. Invalid values are ignored, never an error. */
type SignInSearch = { next?: string }
/** `from` and `to`: the first and the last day on which a run was created, in the time zone of the reader. */
export type RunListSearch = {
  status?: RunStatus[]
  reason?: StatusReason
  repo?: number
  user?: number
  model?: string
  source?: SourceType
  tag?: string
  q?: string
  from?: string
  to?: string
  archived?: true
}
export type NewRunSearch = { sample?: true; repo?: number }
export const pull_request_states: PullRequestState[] = ['open', 'draft', 'merged', 'closed']
const pull_request_reviews: PullRequestReview[] = ['pass', 'fail', 'inconclusive', 'none']
export type PullRequestListSearch = { state?: PullRequestState; review?: PullRequestReview; repo?: number }
export const sandbox_states: SandboxState[] = ['starting', 'running', 'ended', 'lost']
export const sandbox_kinds: SandboxKind[] = ['agent', 'setup', 'check']
export type SandboxListSearch = { state?: SandboxState; kind?: SandboxKind; repo?: number }
type SetupSearch = { run?: number }
type CompareSearch = { a?: number; b?: number }
export const usage_groups = ['day', 'repo', 'user', 'model'] as const
export type UsageSearch = { by?: (typeof usage_groups)[number]; from?: string; to?: string }
type TokensSearch = { create_for?: number }
export type DeliveriesSearch = { state?: keyof typeof deliveryStates; event?: WebhookEvent; run?: number }
export type AuditSearch = { user?: number; action?: string; from?: string; to?: string }
export const trace_views = ['log', 'answer', 'changes', 'files', 'config'] as const
export type TraceView = (typeof trace_views)[number]
/** `file`: a path in the files of the run. */
type TraceSearch = { view?: TraceView; type?: MessageType; failed?: true; q?: string; file?: string }

/** The request of a program that signs in by OAuth (RFC 6749, 4.1.1). */
export type OAuthSearch = Partial<
  Record<
    | 'client_id'
    | 'redirect_uri'
    | 'response_type'
    | 'code_challenge'
    | 'code_challenge_method'
    | 'scope'
    | 'state'
    | 'resource',
    string
  >
>

type Raw = Record<string, unknown>

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const oneOf = <T extends string>(value: unknown, names: readonly T[]) => names.find(name => name === value)
const number = (value: unknown) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : undefined)
const severalOf = <T extends string>(value: unknown, names: readonly T[]) => {
  const given = [value].flat().flatMap(part => (typeof part === 'string' ? part.split(',') : []))
  const known = names.filter(name => given.includes(name))
  return known.length > 0 ? known : undefined
}
const keyOf = <T extends string>(value: unknown, names: Record<T, string>) =>
  oneOf(value, Object.keys(names) as T[])
const flag = (value: unknown) => (value === 'true' || value === true ? true : undefined)
const day = (value: unknown) =>
  /^\d{4}-\d\d-\d\d$/.test(String(value)) && !Number.isNaN(Date.parse(String(value)))
    ? String(value)
    : undefined

export const signInSearch = (raw: Raw): SignInSearch => ({ next: text(raw.next) })

/** The router reads `5` and `true` as values. */
const anyText = (value: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined

export const oauthSearch = (raw: Raw): OAuthSearch => ({
  client_id: anyText(raw.client_id),
  redirect_uri: anyText(raw.redirect_uri),
  response_type: anyText(raw.response_type),
  code_challenge: anyText(raw.code_challenge),
  code_challenge_method: anyText(raw.code_challenge_method),
  scope: anyText(raw.scope),
  state: anyText(raw.state),
  resource: anyText(raw.resource),
})

export const runListSearch = (raw: Raw): RunListSearch => ({
  status: severalOf(raw.status, RunStatuses),
  reason: keyOf(raw.reason, reasonNames),
  repo: number(raw.repo),
  user: number(raw.user),
  model: text(raw.model),
  source: keyOf(raw.source, sourceNames),
  tag: text(raw.tag),
  q: text(raw.q),
  from: day(raw.from),
  to: day(raw.to),
  archived: flag(raw.archived),
})

export const newRunSearch = (raw: Raw): NewRunSearch => ({ sample: flag(raw.sample), repo: number(raw.repo) })

export const pullRequestListSearch = (raw: Raw): PullRequestListSearch => ({
  state: oneOf(raw.state, pull_request_states),
  review: oneOf(raw.review, pull_request_reviews),
  repo: number(raw.repo),
})

export const sandboxListSearch = (raw: Raw): SandboxListSearch => ({
  state: oneOf(raw.state, sandbox_states),
  kind: oneOf(raw.kind, sandbox_kinds),
  repo: number(raw.repo),
})

export const setupSearch = (raw: Raw): SetupSearch => ({ run: number(raw.run) })

export const compareSearch = (raw: Raw): CompareSearch => ({ a: number(raw.a), b: number(raw.b) })

export const usageSearch = (raw: Raw): UsageSearch => ({
  by: oneOf(raw.by, usage_groups),
  from: day(raw.from),
  to: day(raw.to),
})

export const traceSearch = (raw: Raw): TraceSearch => ({
  view: oneOf(raw.view, trace_views),
  type: oneOf(raw.type, MessageTypes),
  failed: flag(raw.failed),
  q: text(raw.q),
  file: text(raw.file),
})

export const tokensSearch = (raw: Raw): TokensSearch => ({ create_for: number(raw.create_for) })

export const deliveriesSearch = (raw: Raw): DeliveriesSearch => ({
  state: keyOf(raw.state, deliveryStates),
  event: keyOf(raw.event, webhookEvents),
  run: number(raw.run),
})

export const auditSearch = (raw: Raw): AuditSearch => ({
  user: number(raw.user),
  action: text(raw.action),
  from: day(raw.from),
  to: day(raw.to),
})
