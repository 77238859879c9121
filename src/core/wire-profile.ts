import type { WireProfile } from '../contract/organizations/tokens.ts'
import type { Problem } from '../contract/problem.ts'
import { failureReasons, publicSourceTypes, type RunStatus, SourceType, type StatusReason, WaitingOn } from '../contract/runs/runs.ts'

/** What decides the word that such a client is told. An answer that gives no reason is read by its status alone. */
export type RunState = { status: RunStatus; status_reason?: StatusReason | null; waiting_on?: WaitingOn | null }

type PublicSourceType = (typeof publicSourceTypes)[number]

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

/** The public API's closest value for what started a run: everything that only this service has was requested over its API. */
export const publicSourceType = (source: SourceType): PublicSourceType => publicSourceTypes.find(known => known === source) ?? 'API'

/** The sources whose runs such a client gets under this value; a value that only this service has stands for itself. */
export const sourcesShownAs = (wanted: SourceType): SourceType[] =>
  SourceType.options.filter(source => source === wanted || publicSourceType(source) === wanted)

/** What of a run depends on the wire profile. */
export type RunWords = RunState & { source_type?: SourceType; result?: string }

/** These fields as the public API has them: `result` is null until there is one. Fields that `run` lacks are not added. */
export const codegenRun = (run: RunWords): Record<string, string | null> => ({
  status: codegenStatus(run),
  ...(run.source_type !== undefined && { source_type: publicSourceType(run.source_type) }),
  ...(run.result === '' && { result: null }),
})

/** What a page of logs shows of its run, in the words of the profile. */
export function logsHead(profile: WireProfile, run: RunState & { result: string }): { status: string; result: string | null } {
  const { status, result } = run
  return { status, result, ...(profile === 'codegen' && codegenRun(run)) }
}

/** The problem as such a client expects it: a request that is wrong is 422, with a list of what is wrong in `detail`. */
export function codegenProblem(problem: Problem): Omit<Problem, 'detail'> & { detail: string | Problem['errors'] } {
  if (problem.code !== 'invalid_request') return problem
  const detail = problem.errors.length > 0 ? problem.errors : [{ loc: [], msg: problem.message, type: 'invalid_request' }]
  return { ...problem, status: 422, status_code: 422, detail }
}
