import {
  type Evidence,
  excerptOf,
  type Failure,
  type FoundSetup,
  leavesOut,
  type Outcome,
  type Plan,
  type Problem,
  type Search,
  type SetupRunner,
  type SuggestedPlan,
} from './plan.ts'
import type { Proof, Proposal, Tool } from './proposal.ts'
import { tryPlan } from './prove-plan.ts'
import {
  ABSENT_FROM_REGISTRY,
  type ExplainedFailure,
  explain,
  lacksSomething,
  type Reason,
} from './repair/failures.ts'
import type { Repair } from './repair/repair.ts'
import { missingText } from './toolchain.ts'

const MAX_ATTEMPTS = 6
const MAX_QUESTIONS = 2

/**
 * Tries a proposal until it is proved or no option is left: a failure is located to the line, changed by
 * rules, and retried in a clean sandbox; when no rule applies, the model is queried.
 */
export async function findSetup(
  proposal: Proposal,
  missing: readonly Tool[],
  runner: SetupRunner,
  too_old: string | null = null,
): Promise<FoundSetup> {
  const search: Search = {
    proposal,
    runner,
    too_old,
    plan: { commands: proposal.commands, to_prove: proposal.to_prove, by_model: false },
    applied: new Set(),
    evidence: [],
    timings: { commands: [], proofs: [] },
    questions: 0,
    before: null,
    unreachable: null,
  }
  if (missing.length > 0) return unverified(search, 'toolchain_missing', missingText(missing))
  if (
    search.plan.to_prove.every(({ proofs }) => proofs.length === 0) &&
    !(await queryModel(search, { kind: 'nothing' }, 0))
  ) {
    const notes = [
      ...proposal.notes.slice(0, 3),
      'Nothing in the repository describes its setup or its tests.',
    ]
    return unverified(search, 'nothing_found', notes.join(' '))
  }
  for (let attempt = 1; ; attempt++) {
    if (runner.over()) return unverified(search, 'time_over', 'The time limit for the detection is over.')
    const outcome = await tryPlan(search, attempt)
    if ('detail' in outcome) return verified(search, outcome)
    const { problem } = outcome
    const explained = explain(problem.ran)
    const next = outcome.repair ?? offlineRepair(search, explained)
    if (next !== null && attempt < MAX_ATTEMPTS) await applyRepair(search, next, problem, attempt)
    else if (!(await queryModel(search, problem, attempt))) return giveUp(search, problem, explained)
  }
}

const unverified = ({ plan, evidence, timings }: Search, reason: Reason, detail: string): FoundSetup => ({
  plan,
  verified: false,
  partial: false,
  reason,
  detail,
  evidence,
  timings,
})

function verified(
  { plan, evidence, timings, unreachable }: Search,
  outcome: Exclude<Outcome, { problem: Failure }>,
): FoundSetup {
  const doubt = outcome.lacking
    ? 'Some of its tests miss what was not there'
    : outcome.by_smoke && (leavesOut(plan) || unreachable !== null)
      ? 'Something was left out and nothing but loading proves it'
      : null
  const judge = doubt === null ? '' : ` ${doubt}: a person has to accept it.`
  const detail = `${outcome.detail}${changesOf(evidence)}${judge}`
  return { plan, verified: true, partial: doubt !== null, reason: null, detail, evidence, timings }
}

/**
 * Continues with the plan of the model. Returns false when it has no suggestion, or when no question or time
 * is left.
 */
async function queryModel(search: Search, problem: Problem, attempt: number): Promise<boolean> {
  if (search.questions >= MAX_QUESTIONS || attempt >= MAX_ATTEMPTS || search.runner.over()) return false
  const suggested = await search.runner.suggest(search.plan, problem, ++search.questions)
  if (suggested === null) return false
  const seq = await search.runner.repaired(suggested, problem, attempt)
  search.evidence.push({ seq, what: 'repair', ok: true, command: '', from: 'model', text: suggested.why })
  search.plan = suggested.plan
  return true
}

/** Returns the switch to the alternative without a registry, once, when the registry was the problem. */
function offlineRepair({ proposal, applied }: Search, explained: ExplainedFailure | null): Repair | null {
  if (explained?.reason !== 'registry_unreachable' || applied.has('offline') || proposal.offline === null)
    return null
  const why = `${whyOffline(explained)}: it is tried with what the machine has`
  return { id: 'offline', why, commands: proposal.offline.commands }
}

async function applyRepair(
  search: Search,
  next: Repair | SuggestedPlan,
  problem: Failure,
  attempt: number,
): Promise<void> {
  const { plan, applied, proposal } = search
  applied.add(next.id === 'offline' ? 'offline' : `${next.id} ${problem.command}`).add(next.id)
  const seq = await search.runner.repaired(next, problem, attempt)
  search.evidence.push({
    seq,
    what: 'repair',
    ok: true,
    command: problem.line,
    from: 'rules',
    text: next.why,
  })
  search.before = { plan, line: problem.line }
  if (next.id === 'offline')
    search.unreachable = { plan, detail: `${problem.line}: ${explain(problem.ran)?.detail ?? ''}` }
  const { offline } = proposal
  search.plan =
    next.id === 'offline' && offline !== null ? { ...offline, by_model: false } : changed(plan, next, problem)
}

/** Returns the result when neither a rule nor the model has another option. */
function giveUp(search: Search, problem: Failure, explained: ExplainedFailure | null): FoundSetup {
  const { before, unreachable, too_old, runner } = search
  // A change without effect is reverted.
  if (before?.line === problem.line) search.plan = before.plan
  // The programs of the machine were not an alternative.
  if (unreachable !== null) {
    search.plan = unreachable.plan
    return unverified(search, 'registry_unreachable', unreachable.detail)
  }
  const absent = absentOf(search.plan)
  if (problem.kind === 'proof' && absent.length > 0 && lacksSomething(problem.ran))
    return unverified(
      search,
      'registry_unreachable',
      `${problem.line} needs what the registry does not have: ${absent.join(', ')}.`,
    )
  if (explained === null && too_old !== null && !runner.over())
    return unverified(search, 'toolchain_missing', `${problem.line} fails. ${too_old}`)
  const reason = explained?.reason ?? (problem.kind === 'command' ? 'command_failed' : 'proof_failed')
  return unverified(
    search,
    runner.over() ? 'time_over' : reason,
    `${problem.line}: ${explained?.detail || excerptOf(problem.ran)}`,
  )
}

const whyOffline = (explained: ExplainedFailure | null) =>
  explained?.detail.startsWith(ABSENT_FROM_REGISTRY)
    ? 'the registry does not have all of it'
    : 'no registry can be reached'

/** Packages that were dropped because the registry does not have them. */
const absentOf = ({ commands }: Plan) =>
  commands.flatMap(({ command }) =>
    [...command.matchAll(/'devDependencies\[([^[\]]+)\]'/g)].map(([, name]) => name ?? ''),
  )

/**
 * Returns the changes that led to success, as text: the person who accepts the commands should know what they
 * skip.
 */
function changesOf(evidence: readonly Evidence[]): string {
  const why = new Set(
    evidence.flatMap(({ what, text }) => (what === 'repair' ? [text.replace(/\.$/, '')] : [])),
  )
  return why.size === 0 ? '' : ` Changed on the way: ${[...why].join('; ')}.`
}

function changed(plan: Plan, next: Repair | SuggestedPlan, problem: Failure): Plan {
  if ('plan' in next) return next.plan
  const proofOf = (proof: Proof): Proof =>
    next.proof !== undefined && proof.command === problem.command ? { ...proof, command: next.proof } : proof
  return {
    ...plan,
    commands: next.commands,
    to_prove: plan.to_prove.map(part => ({ ...part, proofs: part.proofs.map(proofOf) })),
  }
}
