import { failingExcerpt } from '../core/pull-requests/failing-excerpt.ts'
import type { Proof, Proposal, Step, Tool, ToProve } from './proposal.ts'
import {
  ABSENT_FROM_REGISTRY,
  type Explained,
  explain,
  type Failed,
  hasNoTests,
  lacksAnything,
  lacksSomething,
  mostlyPassed,
  type Reason,
  whyRed,
} from './repair/failures.ts'
import { type Repair, repairCommand, repairForProof } from './repair/repair.ts'
import { partsOf } from './shell-lines.ts'
import { missingText } from './toolchain.ts'

/** A command that has run. `seq`: its entry in the trace. */
export type Ran = Failed & { ok: boolean; seq: number; ms: number }
export type Plan = { commands: Step[]; to_prove: ToProve[]; by_model: boolean }
/** The current obstacle, for the model. */
export type Problem = { kind: 'nothing' } | { kind: 'command' | 'proof'; command: string; line: string; ran: Ran }

/** Where plans are tried. */
export type SetupRunner = {
  /** Runs the commands in a clean sandbox up to the first that fails. `prepared` exists when none did, and the caller disposes of it. */
  prepare(plan: Plan, attempt: number, locating: boolean): Promise<{ ran: Ran[]; prepared: Prepared | null }>
  /** Records in the trace what is changed and why, and returns the entry. */
  repaired(repair: Repair | Suggested, problem: Problem, attempt: number): Promise<number>
  /** Returns whether the total time is over. */
  over(): boolean
  /** Queries a model; null: there is none, or it has no suggestion. */
  ask(plan: Plan, problem: Problem, question: number): Promise<Suggested | null>
}
/** Each proof runs on a copy of the prepared workspace, as a check of the repository would. */
export type Prepared = AsyncDisposable & { prove(proof: Proof, attempt: number, n: number): Promise<Ran> }
export type Suggested = { id: 'model'; why: string; plan: Plan }

export type Evidence = { seq: number; what: 'command' | 'repair' | 'proof'; ok: boolean; command: string; from: string; text: string }
export type Timing = { command: string; ms: number }
export type Found = {
  plan: Plan
  verified: boolean
  /** Something was dropped to succeed, and only loading proves the rest: a person must judge it. */
  partial: boolean
  reason: Reason | null
  detail: string
  evidence: Evidence[]
  timings: { commands: Timing[]; proofs: Timing[] }
}

const MAX_ATTEMPTS = 6
const MAX_QUESTIONS = 2
const EXCERPT = 600

/**
 * Tries a proposal until it is proved or no option is left: a failure is located to the line, changed by rules, and retried in a clean
 * sandbox; when no rule applies, the model is queried.
 */
export async function findSetup(
  proposal: Proposal,
  missing: readonly Tool[],
  runner: SetupRunner,
  too_old: string | null = null,
): Promise<Found> {
  let plan: Plan = { commands: proposal.commands, to_prove: proposal.to_prove, by_model: false }
  const made = new Set<string>()
  const evidence: Evidence[] = []
  const timings: Found['timings'] = { commands: [], proofs: [] }
  let questions = 0
  /** The previous plan, and its failing line. */
  let before: { plan: Plan; line: string } | null = null
  let unreachable: { plan: Plan; detail: string } | null = null
  const ended = (verified: boolean, reason: Reason | null, detail: string, partial = false): Found => ({
    ...{ plan, verified, partial, reason, detail, evidence, timings },
  })
  const asked = async (problem: Problem, attempt: number): Promise<boolean> => {
    if (questions >= MAX_QUESTIONS || attempt >= MAX_ATTEMPTS || runner.over()) return false
    const suggested = await runner.ask(plan, problem, ++questions)
    if (suggested === null) return false
    const seq = await runner.repaired(suggested, problem, attempt)
    evidence.push({ seq, what: 'repair', ok: true, command: '', from: 'model', text: suggested.why })
    plan = suggested.plan
    return true
  }

  if (missing.length > 0) return ended(false, 'toolchain_missing', missingText(missing))
  if (plan.to_prove.every(({ proofs }) => proofs.length === 0) && !(await asked({ kind: 'nothing' }, 0)))
    return ended(
      false,
      'nothing_found',
      [...proposal.notes.slice(0, 3), 'Nothing in the repository says how it is set up or tested.'].join(' '),
    )
  for (let attempt = 1; ; attempt++) {
    if (runner.over()) return ended(false, 'time_over', 'The time for finding them out was over.')
    const { ran, prepared } = await runner.prepare(plan, attempt, false)
    timings.commands = ran.map(({ ms }, i) => ({ command: plan.commands[i]?.command ?? '', ms }))
    timings.proofs = []
    evidence.push(...ran.map((one, i) => evidenceOf('command', plan.commands[i], one)))
    let outcome: Outcome
    if (prepared === null) outcome = await afterFailure(plan, ran, runner, attempt, made)
    else {
      await using of_this = prepared
      outcome = await proveAll(plan, of_this, runner, attempt, made, evidence, timings)
    }
    if ('detail' in outcome) {
      const doubt = outcome.lacking
        ? 'Some of its tests miss what was not there'
        : outcome.by_smoke && (leavesOut(plan) || unreachable !== null)
          ? 'Something was left out and nothing but loading proves it'
          : null
      const [partial, judge] = [doubt !== null, doubt === null ? '' : ` ${doubt}: a person has to accept it.`]
      return ended(true, null, `${outcome.detail}${changesOf(evidence)}${judge}`, partial)
    }

    const { problem, repair } = outcome
    const explained = explain(problem.ran)
    const offline = explained?.reason === 'registry_unreachable' && !made.has('offline') ? proposal.offline : null
    const next: Repair | Suggested | null =
      repair ??
      (offline === null
        ? null
        : { id: 'offline', why: `${whyOffline(explained)}: it is tried with what the machine has`, commands: offline.commands })
    const give_up = () => {
      // A change without effect is reverted.
      if (before?.line === problem.line) plan = before.plan
      // The programs of the machine were no alternative.
      if (unreachable !== null) {
        plan = unreachable.plan
        return ended(false, 'registry_unreachable', unreachable.detail)
      }
      const absent = absentOf(plan)
      if (problem.kind === 'proof' && absent.length > 0 && lacksSomething(problem.ran))
        return ended(false, 'registry_unreachable', `${problem.line} needs what the registry does not have: ${absent.join(', ')}.`)
      const fallback = { reason: problem.kind === 'command' ? ('command_failed' as const) : ('proof_failed' as const), detail: '' }
      if (explained === null && too_old !== null && !runner.over())
        return ended(false, 'toolchain_missing', `${problem.line} fails. ${too_old}`)
      const { reason, detail } = explained ?? fallback
      return ended(false, runner.over() ? 'time_over' : reason, `${problem.line}: ${detail || excerptOf(problem.ran)}`)
    }
    if (next !== null && attempt < MAX_ATTEMPTS) {
      made.add(next.id === 'offline' ? 'offline' : `${next.id} ${problem.command}`).add(next.id)
      const seq = await runner.repaired(next, problem, attempt)
      evidence.push({ seq, what: 'repair', ok: true, command: problem.line, from: 'rules', text: next.why })
      before = { plan, line: problem.line }
      if (next.id === 'offline') unreachable = { plan, detail: `${problem.line}: ${explained?.detail ?? ''}` }
      plan = next.id === 'offline' && offline !== null ? { ...offline, by_model: false } : changed(plan, next, problem)
    } else if (!(await asked(problem, attempt))) return give_up()
  }
}

const whyOffline = (explained: Explained | null) =>
  explained?.detail.startsWith(ABSENT_FROM_REGISTRY) ? 'the registry does not have all of it' : 'no registry can be reached'

/** Packages that were dropped because the registry does not have them. */
const absentOf = ({ commands }: Plan) =>
  commands.flatMap(({ command }) => [...command.matchAll(/'devDependencies\[([^\]]+)\]'/g)].map(([, name]) => name ?? ''))

/** Returns the changes that led to success, as text: the person who accepts the commands should know what they skip. */
function changesOf(evidence: readonly Evidence[]): string {
  const why = new Set(evidence.flatMap(({ what, text }) => (what === 'repair' ? [text.replace(/\.$/, '')] : [])))
  return why.size === 0 ? '' : ` Changed on the way: ${[...why].join('; ')}.`
}

type Failure = Extract<Problem, { ran: Ran }>
type Outcome = { detail: string; by_smoke: boolean; lacking: boolean } | { problem: Failure; repair: Repair | null }

/** Locates the failing line of a command, by running its parts one by one. */
async function afterFailure(plan: Plan, ran: Ran[], runner: SetupRunner, attempt: number, made: ReadonlySet<string>): Promise<Outcome> {
  const n = ran.length - 1
  const [step, last] = [plan.commands[n], ran[n]]
  if (step === undefined || last === undefined) throw new Error('nothing has failed')
  let [line, failed] = [/^\(cd [\w./-]+ && ([^&;|()]+)\)$/.exec(step.command)?.[1] ?? step.command, last]
  const parts = partsOf(line)
  if (parts.length > 1 && !last.timed_out && !runner.over()) {
    const split = [...plan.commands.slice(0, n), ...parts.map(command => ({ ...step, command }))]
    const located = await runner.prepare({ ...plan, commands: split }, attempt, true)
    await located.prepared?.[Symbol.asyncDispose]()
    const at = located.ran.length - 1
    const found = located.ran[at]
    if (found !== undefined && !found.ok && at >= n) [line, failed] = [split[at]?.command ?? line, found]
  }
  const problem: Failure = { kind: 'command', command: step.command, line, ran: failed }
  return { problem, repair: repairCommand(plan.commands, n, line, failed, made) }
}

/** Each part needs one proof, the best that passes; a failing test without missing packages is the repository's own problem. */
async function proveAll(
  plan: Plan,
  prepared: Prepared,
  runner: SetupRunner,
  attempt: number,
  made: ReadonlySet<string>,
  evidence: Evidence[],
  timings: Found['timings'],
): Promise<Outcome> {
  const said: string[] = []
  let [by_smoke, lacking] = [false, false]
  let n = 0
  for (const part of plan.to_prove) {
    const failures: Failing[] = []
    let proved: Proof | null = null
    for (const proof of part.proofs) {
      // Loading proves nothing when its tests could not even start for lack of something that the setup should have installed.
      if (proof.kind === 'smoke' && failures.some(({ ran }) => lacksSomething(ran)) && !isComplete(part, plan)) break
      // Tests of which most pass prove more.
      if (proof.kind === 'smoke' && countedAmong(failures) !== null) break
      if (failures.length > 0 && runner.over()) break
      const ran = await prepared.prove(proof, attempt, ++n)
      timings.proofs.push({ command: proof.command, ms: ran.ms })
      const empty = ran.ok && proof.kind === 'test' && hasNoTests(ran)
      evidence.push({ ...evidenceOf('proof', proof, ran), ...(empty && { ok: false, text: 'It found no tests.' }) })
      if (ran.ok && !empty) {
        proved = proof
        break
      }
      failures.push({ proof, ran })
      const repair = repairForProof(plan.commands, part, proof.command, ran, made)
      if (repair !== null) return { problem: { kind: 'proof', command: proof.command, line: proof.command, ran }, repair }
    }
    const [first] = failures
    const counted = proved === null ? countedAmong(failures) : null
    if (counted !== null) {
      said.push(counted)
      lacking ||= failures.some(({ ran }) => lacksAnything(ran))
      continue
    }
    if (proved === null) {
      if (first === undefined) continue
      return { problem: { kind: 'proof', command: first.proof.command, line: first.proof.command, ran: first.ran }, repair: null }
    }
    by_smoke ||= proved.kind === 'smoke'
    const red = failures.filter(({ proof }) => proof.kind === 'test').map(redText)
    said.push(`${[`Proved by \`${proved.command}\``, ...red].join('; ')}.`)
  }
  return { detail: said.join(' '), by_smoke, lacking }
}

type Failing = { proof: Proof; ran: Ran }

/** When nothing passes completely: the tests of which most do. */
function countedAmong(failures: readonly Failing[]): string | null {
  for (const { proof, ran } of failures) {
    const counts = proof.kind === 'test' ? mostlyPassed(ran) : null
    if (counts === null || ran.ok) continue
    const all = counts.passed + counts.failed
    return `Proved by \`${proof.command}\`, of which ${counts.passed} of ${all} ${counts.of} pass; the others fail by themselves.`
  }
  return null
}

/** A successful Node package manager has installed all declared dependencies: anything missing is not declared. */
const isComplete = ({ ecosystem }: ToProve, plan: Plan) => ecosystem === 'node' && !leavesOut(plan)

/** Skips scripts of packages, or packages that the registry does not have. */
const leavesOut = ({ commands }: Plan) => commands.some(({ command }) => /--ignore-scripts|skip-build|npm pkg delete/.test(command))

function changed(plan: Plan, next: Repair | Suggested, problem: Failure): Plan {
  if ('plan' in next) return next.plan
  const proofOf = (proof: Proof): Proof =>
    next.proof !== undefined && proof.command === problem.command ? { ...proof, command: next.proof } : proof
  return { ...plan, commands: next.commands, to_prove: plan.to_prove.map(part => ({ ...part, proofs: part.proofs.map(proofOf) })) }
}

function evidenceOf(what: 'command' | 'proof', said: Step | Proof | undefined, ran: Ran): Evidence {
  const text = ran.ok ? (said?.why ?? '') : excerptOf(ran)
  return { seq: ran.seq, what, ok: ran.ok, command: said?.command ?? '', from: said?.from ?? '', text }
}

/** Returns the result of tests when something else has proved the setup. */
function redText({ proof, ran }: Failing): string {
  if (ran.ok) return `\`${proof.command}\` found no tests`
  const why = whyRed(ran)
  const because = why === null ? '' : ` (${why})`
  if (lacksSomething(ran)) return `\`${proof.command}\` could not begin${because}`
  return `\`${proof.command}\` ran and failed${because}, which the setup is not the reason of`
}

const excerptOf = (ran: Ran) =>
  ran.timed_out ? 'it was not done in its time' : failingExcerpt(ran.output, EXCERPT) || `exit code ${ran.exit_code}`
