import { failingExcerpt } from '../core/pull-requests/failing-excerpt.ts'
import type { Proof, Proposal, Step, ToProve } from './proposal.ts'
import type { FailedCommand, Reason } from './repair/failures.ts'
import type { Repair } from './repair/repair.ts'

/** A command that has run. `seq`: its entry in the trace. */
export type CommandRun = FailedCommand & { ok: boolean; seq: number; ms: number }
export type Plan = { commands: Step[]; to_prove: ToProve[]; by_model: boolean }
/** The current obstacle, for the model. */
export type Problem =
  | { kind: 'nothing' }
  | { kind: 'command' | 'proof'; command: string; line: string; ran: CommandRun }

/** Where plans are tried. */
export type SetupRunner = {
  /**
   * Runs the commands in a clean sandbox up to the first that fails. `prepared` exists when none did, and the
   * caller disposes of it.
   */
  prepare(
    plan: Plan,
    attempt: number,
    locating: boolean,
  ): Promise<{ ran: CommandRun[]; prepared: PreparedSetup | null }>
  /** Records in the trace what is changed and why, and returns the entry. */
  repaired(repair: Repair | SuggestedPlan, problem: Problem, attempt: number): Promise<number>
  /** Returns whether the total time is over. */
  over(): boolean
  /** Queries a model; null: there is none, or it has no suggestion. */
  suggest(plan: Plan, problem: Problem, question: number): Promise<SuggestedPlan | null>
}
/** Each proof runs on a copy of the prepared workspace, as a check of the repository would. */
export type PreparedSetup = AsyncDisposable & {
  prove(proof: Proof, attempt: number, n: number): Promise<CommandRun>
}
export type SuggestedPlan = { id: 'model'; why: string; plan: Plan }

export type Evidence = {
  seq: number
  what: 'command' | 'repair' | 'proof'
  ok: boolean
  command: string
  from: string
  text: string
}
type Timing = { command: string; ms: number }
export type FoundSetup = {
  plan: Plan
  verified: boolean
  /** Something was dropped to succeed, and only loading proves the rest: a person must judge it. */
  partial: boolean
  reason: Reason | null
  detail: string
  evidence: Evidence[]
  timings: { commands: Timing[]; proofs: Timing[] }
}

/**
 * The state of a search. Its functions change the object itself, because each attempt adds to the evidence of
 * the one before.
 */
export type Search = {
  readonly proposal: Proposal
  readonly runner: SetupRunner
  /** A text about programs that are older than requested. */
  readonly too_old: string | null
  plan: Plan
  /** Ids of rules that were applied, alone and with their command. */
  readonly applied: Set<string>
  readonly evidence: Evidence[]
  readonly timings: FoundSetup['timings']
  questions: number
  /** The previous plan, and its failing line. */
  before: { plan: Plan; line: string } | null
  /** The plan that failed because no registry could be reached. */
  unreachable: { plan: Plan; detail: string } | null
}

export type Failure = Extract<Problem, { ran: CommandRun }>
export type Outcome =
  | { detail: string; by_smoke: boolean; lacking: boolean }
  | { problem: Failure; repair: Repair | null }

const EXCERPT_CHARS = 600

export function evidenceOf(
  what: 'command' | 'proof',
  source: Step | Proof | undefined,
  ran: CommandRun,
): Evidence {
  const text = ran.ok ? (source?.why ?? '') : excerptOf(ran)
  return { seq: ran.seq, what, ok: ran.ok, command: source?.command ?? '', from: source?.from ?? '', text }
}

export const excerptOf = (ran: CommandRun) =>
  ran.timed_out
    ? 'it was not done in its time'
    : failingExcerpt(ran.output, EXCERPT_CHARS) || `exit code ${ran.exit_code}`

/** Skips scripts of packages, or packages that the registry does not have. */
export const leavesOut = ({ commands }: Plan) =>
  commands.some(({ command }) => /--ignore-scripts|skip-build|npm pkg delete/.test(command))
