import type { Problem } from '../contract/error-codes.ts'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import {
  failureReasons,
  publicSourceTypes,
  type RunStatus,
  SourceType,
  type StatusReason,
  WaitingOn,
} from '../contract/runs/runs.ts'

/**
 * The fields that determine the status word of such a client. A response without a reason is mapped by its
 * status alone.
 */
export type RunState = {
  status: RunStatus
  status_reason?: StatusReason | null
  waiting_on?: WaitingOn | null
}

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
type CodegenStatus = (typeof codegenStatuses)[number]
/** Names of the public API that no run of this service has: filtering by them returns nothing. */
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

/** Returns the public API's word for a run's status. */
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

/**
 * Runs in one of these statuses, except those whose `waiting_on` or `status_reason` is listed in `except`.
 */
export type StatusFilter = { statuses: RunStatus[]; except: string[] }

/**
 * Returns the runs that a client of the public API means by this name, in any case; null when the name is
 * unknown.
 */
export function codegenFilter(name: string): StatusFilter | null {
  const wanted = name.toUpperCase()
  if (unused.includes(wanted)) return { statuses: [], except: [] }
  const statuses = new Set(states.filter(state => codegenStatus(state) === wanted).map(state => state.status))
  if (statuses.size === 0) return null
  const others = states.filter(state => statuses.has(state.status) && codegenStatus(state) !== wanted)
  return {
    statuses: [...statuses],
    except: others.flatMap(state => state.waiting_on ?? state.status_reason ?? []),
  }
}

/**
 * Returns the public API's closest value for the source of a run: sources that only this service has map to
 * the API.
 */
export const publicSourceType = (source: SourceType): PublicSourceType =>
  publicSourceTypes.find(known => known === source) ?? 'API'

/**
 * Returns the sources that such a client sees under this value; a value that only this service has maps to
 * itself.
 */
export const sourcesShownAs = (wanted: SourceType): SourceType[] =>
  SourceType.options.filter(source => source === wanted || publicSourceType(source) === wanted)

/** The fields of a run that depend on the wire profile. */
export type RunWireFields = RunState & { source_type?: SourceType; result?: string }

/**
 * Returns these fields as the public API has them: `result` is null until there is one. Fields that `run`
 * lacks are not added.
 */
export const codegenRun = (run: RunWireFields): Record<string, string | null> => ({
  status: codegenStatus(run),
  ...(run.source_type !== undefined && { source_type: publicSourceType(run.source_type) }),
  ...(run.result === '' && { result: null }),
})

/** Returns the fields of the run on a page of logs, in the words of the profile. */
export function logsHead(
  profile: WireProfile,
  run: RunState & { result: string },
): { status: string; result: string | null } {
  const { status, result } = run
  return { status, result, ...(profile === 'codegen' && codegenRun(run)) }
}

/**
 * Returns the problem as such a client expects it: an invalid request is 422, with a list of the mistakes in
 * `detail`.
 */
export function codegenProblem(
  problem: Problem,
): Omit<Problem, 'detail'> & { detail: string | Problem['errors'] } {
  if (problem.code !== 'invalid_request') return problem
  const detail =
    problem.errors.length > 0 ? problem.errors : [{ loc: [], msg: problem.message, type: 'invalid_request' }]
  return { ...problem, status: 422, status_code: 422, detail }
}
