import type { Problem } from '../contract/problem.ts'
import { failureReasons, type RunStatus, type StatusReason, WaitingOn } from '../contract/runs.ts'
import type { WireProfile } from '../contract/tokens.ts'

/** What decides the word that such a client is told. An answer that gives no reason is read by its status alone. */
export type RunState = { status: RunStatus; status_reason?: StatusReason | null; waiting_on?: WaitingOn | null }

export const codegenStatuses = [
  'ACTIVE',
  'PAUSED',
  'COMPLETE',
  'CANCELLED',
  'TIMEOUT',
  'MAX_ITERATIONS_REACHED',
  'OUT_OF_TOKENS',
  'ERROR',
] as const
export type CodegenStatus = (typeof codegenStatuses)[number]
/** Names of the public API that no run of ours has: who asks for them gets none. */
const unused = ['EVALUATION', 'FAILED', 'PENDING']

const plain: Record<Exclude<RunStatus, 'waiting' | 'failed'>, CodegenStatus> = {
  queued: 'ACTIVE',
  starting: 'ACTIVE',
  running: 'ACTIVE',
  cancelling: 'ACTIVE',
  paused: 'PAUSED',
  completed: 'COMPLETE',
  cancelled: 'CANCELLED',
}
const ofFailure: Partial<Record<StatusReason, CodegenStatus>> = {
  timeout: 'TIMEOUT',
  max_steps: 'MAX_ITERATIONS_REACHED',
  out_of_tokens: 'OUT_OF_TOKENS',
}

/** The public API's word for a run's status. */
export function codegenStatus({ status, status_reason, waiting_on }: RunState): CodegenStatus {
  if (status === 'waiting') return waiting_on === 'user_input' ? 'PAUSED' : 'ACTIVE'
  if (status === 'failed') return (status_reason && ofFailure[status_reason]) || 'ERROR'
  return plain[status]
}

export const statusFor = (profile: WireProfile, run: RunState): string => (profile === 'codegen' ? codegenStatus(run) : run.status)

const states: RunState[] = [
  ...(Object.keys(plain) as (keyof typeof plain)[]).map(status => ({ status })),
  ...WaitingOn.options.map(waiting_on => ({ status: 'waiting' as const, waiting_on })),
  ...failureReasons.map(status_reason => ({ status: 'failed' as const, status_reason })),
]

/** Runs in one of these statuses, but those whose `waiting_on` or `status_reason` is excepted. */
export type StatusFilter = { statuses: RunStatus[]; except: string[] }

/** Which runs a client of the public API means by this name, in any case; null when it is none. */
export function codegenFilter(name: string): StatusFilter | null {
  const wanted = name.toUpperCase()
  if (unused.includes(wanted)) return { statuses: [], except: [] }
  const statuses = new Set(states.filter(state => codegenStatus(state) === wanted).map(state => state.status))
  if (statuses.size === 0) return null
  const others = states.filter(state => statuses.has(state.status) && codegenStatus(state) !== wanted)
  return { statuses: [...statuses], except: others.flatMap(state => state.waiting_on ?? state.status_reason ?? []) }
}

/** The problem as such a client expects it: a request that is wrong is 422, with a list of what is wrong in `detail`. */
export function codegenProblem(problem: Problem): Omit<Problem, 'detail'> & { detail: string | Problem['errors'] } {
  if (problem.code !== 'invalid_request') return problem
  const detail = problem.errors.length > 0 ? problem.errors : [{ loc: [], msg: problem.message, type: 'invalid_request' }]
  return { ...problem, status: 422, status_code: 422, detail }
}
