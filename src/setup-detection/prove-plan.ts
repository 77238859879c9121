import {
  type CommandRun,
  evidenceOf,
  type Failure,
  leavesOut,
  type Outcome,
  type Plan,
  type PreparedSetup,
  type Search,
} from './plan.ts'
import type { Proof, ToProve } from './proposal.ts'
import { hasNoTests, lacksAnything, lacksSomething, mostlyPassed, whyRed } from './repair/failures.ts'
import { type Repair, repairCommand, repairForProof } from './repair/repair.ts'
import { partsOf } from './shell-lines.ts'

/** Runs the commands of the plan, and its proofs when none of them fails. */
export async function tryPlan(search: Search, attempt: number): Promise<Outcome> {
  const { plan, evidence, timings } = search
  const { ran, prepared } = await search.runner.prepare(plan, attempt, false)
  timings.commands = ran.map(({ ms }, i) => ({ command: plan.commands[i]?.command ?? '', ms }))
  timings.proofs = []
  evidence.push(...ran.map((one, i) => evidenceOf('command', plan.commands[i], one)))
  if (prepared === null) return await afterFailure(search, ran, attempt)
  await using prepared_plan = prepared
  return await proveAll(search, prepared_plan, attempt)
}

/** Locates the failing line of a command, by running its parts one by one. */
async function afterFailure(
  { plan, runner, applied }: Search,
  ran: CommandRun[],
  attempt: number,
): Promise<Outcome> {
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
  return { problem, repair: repairCommand(plan.commands, n, line, failed, applied) }
}

type FailingProof = { proof: Proof; ran: CommandRun }
/** The proofs of one part: `repair` when a rule applies to a failing one. */
type TriedProofs = {
  failures: FailingProof[]
  proved: Proof | null
  repair: { repair: Repair; failing: FailingProof } | null
}

/**
 * Each part needs one proof, the best that passes; a failing test without missing packages is the
 * repository's own problem.
 */
async function proveAll(search: Search, prepared: PreparedSetup, attempt: number): Promise<Outcome> {
  const details: string[] = []
  let [by_smoke, lacking] = [false, false]
  const counter = { n: 0 }
  for (const part of search.plan.to_prove) {
    const { failures, proved, repair } = await provePart(search, part, proof =>
      prepared.prove(proof, attempt, ++counter.n),
    )
    if (repair !== null) return { problem: failureOf(repair.failing), repair: repair.repair }
    const [first] = failures
    const counted = proved === null ? countedAmong(failures) : null
    if (counted !== null) {
      details.push(counted)
      lacking ||= failures.some(({ ran }) => lacksAnything(ran))
      continue
    }
    if (proved === null) {
      if (first === undefined) continue
      return { problem: failureOf(first), repair: null }
    }
    by_smoke ||= proved.kind === 'smoke'
    const red = failures.filter(({ proof }) => proof.kind === 'test').map(redText)
    details.push(`${[`Proved by \`${proved.command}\``, ...red].join('; ')}.`)
  }
  return { detail: details.join(' '), by_smoke, lacking }
}

/** Runs the proofs of one part until one passes or a rule applies to a failing one. */
async function provePart(
  search: Search,
  part: ToProve,
  prove: (proof: Proof) => Promise<CommandRun>,
): Promise<TriedProofs> {
  const { plan, runner, applied, evidence, timings } = search
  const failures: FailingProof[] = []
  for (const proof of part.proofs) {
    // Loading proves nothing when its tests could not even start for lack of something that the setup should
    // have installed.
    if (proof.kind === 'smoke' && failures.some(({ ran }) => lacksSomething(ran)) && !isComplete(part, plan))
      break
    // Tests of which most pass prove more.
    if (proof.kind === 'smoke' && countedAmong(failures) !== null) break
    if (failures.length > 0 && runner.over()) break
    const ran = await prove(proof)
    timings.proofs.push({ command: proof.command, ms: ran.ms })
    const empty = ran.ok && proof.kind === 'test' && hasNoTests(ran)
    evidence.push({
      ...evidenceOf('proof', proof, ran),
      ...(empty && { ok: false, text: 'It found no tests.' }),
    })
    if (ran.ok && !empty) return { failures, proved: proof, repair: null }
    failures.push({ proof, ran })
    const repair = repairForProof(plan.commands, part, proof.command, ran, applied)
    if (repair !== null) return { failures, proved: null, repair: { repair, failing: { proof, ran } } }
  }
  return { failures, proved: null, repair: null }
}

const failureOf = ({ proof, ran }: FailingProof): Failure => ({
  kind: 'proof',
  command: proof.command,
  line: proof.command,
  ran,
})

/** When nothing passes completely: the tests of which most do. */
function countedAmong(failures: readonly FailingProof[]): string | null {
  for (const { proof, ran } of failures) {
    const counts = proof.kind === 'test' ? mostlyPassed(ran) : null
    if (counts === null || ran.ok) continue
    const all = counts.passed + counts.failed
    return `Proved by \`${proof.command}\`, of which ${counts.passed} of ${all} ${counts.of} pass; the others fail by themselves.`
  }
  return null
}

/**
 * A successful Node package manager has installed all declared dependencies: anything missing is not
 * declared.
 */
const isComplete = ({ ecosystem }: ToProve, plan: Plan) => ecosystem === 'node' && !leavesOut(plan)

/** Returns the result of tests when something else has proved the setup. */
function redText({ proof, ran }: FailingProof): string {
  if (ran.ok) return `\`${proof.command}\` found no tests`
  const why = whyRed(ran)
  const because = why === null ? '' : ` (${why})`
  if (lacksSomething(ran)) return `\`${proof.command}\` could not begin${because}`
  return `\`${proof.command}\` ran and failed${because}; the setup is not the cause`
}
