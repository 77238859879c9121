import type { PullRequestState } from '../../src/contract/pull-requests/pull-requests.ts'
import type { MessageType } from '../../src/contract/runs/logs.ts'
import type { RunStatus } from '../../src/contract/runs/runs.ts'
import { MessageTypes, RunStatuses } from './api/names.ts'

/** The search parameters of each page. Invalid values are ignored, never an error. */
type SignInSearch = { next?: string }
export type RunListSearch = { status?: RunStatus; repo?: number; q?: string; tag?: string; archived?: true }
export type NewRunSearch = { sample?: true; repo?: number }
export const pull_request_states: PullRequestState[] = ['open', 'draft', 'merged', 'closed']
export type PullRequestListSearch = { state?: PullRequestState; repo?: number; run?: number }
export const usage_groups = ['day', 'repo', 'user', 'model'] as const
export type UsageSearch = { by?: (typeof usage_groups)[number]; from?: string; to?: string }
export type TraceView = 'log' | 'answer' | 'changes' | 'config'
type TraceSearch = { view?: TraceView; type?: MessageType; q?: string }

type Raw = Record<string, unknown>
const views: TraceView[] = ['log', 'answer', 'changes', 'config']

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const oneOf = <T extends string>(value: unknown, names: readonly T[]) => names.find(name => name === value)
const number = (value: unknown) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : undefined)
const flag = (value: unknown) => (value === 'true' || value === true ? true : undefined)

export const signInSearch = (raw: Raw): SignInSearch => ({ next: text(raw.next) })

export const runListSearch = (raw: Raw): RunListSearch => ({
  status: oneOf(raw.status, RunStatuses),
  repo: number(raw.repo),
  q: text(raw.q),
  tag: text(raw.tag),
  archived: flag(raw.archived),
})

export const newRunSearch = (raw: Raw): NewRunSearch => ({ sample: flag(raw.sample), repo: number(raw.repo) })

export const pullRequestListSearch = (raw: Raw): PullRequestListSearch => ({
  state: oneOf(raw.state, pull_request_states),
  repo: number(raw.repo),
  run: number(raw.run),
})

const day = (value: unknown) => (/^\d{4}-\d\d-\d\d$/.test(String(value)) ? String(value) : undefined)

export const usageSearch = (raw: Raw): UsageSearch => ({ by: oneOf(raw.by, usage_groups), from: day(raw.from), to: day(raw.to) })

export const traceSearch = (raw: Raw): TraceSearch => ({
  view: oneOf(raw.view, views),
  type: oneOf(raw.type, MessageTypes),
  q: text(raw.q),
})
