import { type SetupKnown, setupQuestion, suggestionOf } from '../../agent/phases/setup-question.ts'
import type { SendQuestion } from '../../agent/side-question.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { ExecResult } from '../../sandbox/port.ts'
import type { CommandRun, Plan, PreparedSetup, SetupRunner } from '../../setup-detection/plan.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { StartError } from '../base/start-error.ts'
import {
  type CheckSandboxes,
  type CheckSandboxesInput,
  openCheckSandboxes,
} from '../checks/check-sandboxes.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import { runVisibleCommand } from '../sandbox/visible-command.ts'
import type { EndedCommand, Purpose } from '../setup/run-setup.ts'

type SetupRunnerInput = Omit<CheckSandboxesInput, 'setup' | 'purpose' | 'setupEnded' | 'head_sha'> & {
  variables: Record<string, string>
  known: SetupKnown
  sendQuestion: SendQuestion
  /** Throws when the run must be handed to another worker. */
  throwIfLeaving(): void
  /** By `performance.now`. */
  until: number
}

const MAX_MS = { setup: 600_000, proof: 300_000 }
const MIN_MS = 1_000

/**
 * Tries commands in clean sandboxes as the setup of the repository, and proofs as its checks. Each command is
 * an entry of the trace.
 */
export function createSetupRunner(input: SetupRunnerInput): SetupRunner {
  const { writer, base, until, known, sendQuestion } = input
  const left = (max_ms: number) => Math.max(MIN_MS, Math.min(max_ms, until - performance.now()))
  return {
    over: () => performance.now() >= until,
    async prepare(plan, attempt, locating) {
      input.throwIfLeaving()
      const ran: CommandRun[] = []
      const purpose: Purpose = locating ? `the line that fails in attempt ${attempt}` : `attempt ${attempt}`
      const commands = plan.commands.map(({ command }) => command)
      const timeout_ms = left(MAX_MS.setup)
      const setup = {
        commands,
        maintenance: [],
        variables: input.variables,
        on_failure: 'fail' as const,
        timeout_ms,
        digest: '',
      }
      const sandboxes = await openCheckSandboxes({
        ...input,
        head_sha: base.sha,
        purpose,
        setup: commands.length === 0 ? null : setup,
        secrets: plan.by_model ? ofAgents(input.secrets) : input.secrets,
        setupEnded: ended => void ran.push(ranOf(ended)),
      }).catch(error => {
        if (error instanceof StartError && ran.at(-1)?.ok === false) return null
        throw error
      })
      return { ran, prepared: sandboxes && preparedBy(input, sandboxes, left) }
    },
    async repaired(repair, problem, attempt) {
      const commands = ('plan' in repair ? repair.plan.commands : repair.commands).map(
        ({ command }) => command,
      )
      const because = problem.kind === 'nothing' ? {} : { command: problem.command, line: problem.line }
      const output = {
        status: 'ok',
        by: repair.id === 'model' ? 'model' : 'rules',
        why: repair.why,
        commands,
      }
      const { total_logs } = await writer.append({
        entries: [serviceAction(actionTool.setup_repair, { attempt, ...because }, output, 0)],
      })
      return total_logs
    },
    async suggest(plan: Plan, problem, question) {
      // Redacted before the question shortens them.
      const files = await Promise.all(
        [...known.files].map(async ([path, text]) => [path, await writer.redactor.text(text)] as const),
      )
      const shown = { ...known, files: new Map(files) }
      return suggestionOf(await sendQuestion(setupQuestion(question, shown, plan, problem)), plan)
    },
  }
}

/**
 * Commands of a model may come from a prompt injection: they get the secrets of an agent and none that are
 * for setups only.
 */
const ofAgents = (secrets: RunSecrets): RunSecrets => ({
  ...secrets,
  secrets: secrets.secrets.filter(({ for_agent }) => for_agent),
})

const ranOf = ({ why, output, result, seq }: EndedCommand): CommandRun => ({
  ok: why === null,
  output,
  exit_code: result.exit_code,
  timed_out: result.status === 'timeout',
  seq,
  ms: Math.round(result.duration_ms),
})

function preparedBy(
  input: SetupRunnerInput,
  sandboxes: CheckSandboxes,
  left: (max_ms: number) => number,
): PreparedSetup {
  const { writer, signal } = input
  return {
    async prove(proof, attempt, n) {
      const { command, kind, from } = proof
      const call_id = `proof-${attempt}-${n}`
      const call = { command, kind, from, attempt }
      const { result, output } = await runVisibleCommand(
        input,
        { call_id, tool_name: actionTool.setup_proof, input: call, command, timeout_ms: left(MAX_MS.proof) },
        use => sandboxes.inClean(use),
      )
      signal.throwIfAborted()
      const ok = hasPassed(result)
      const shown = {
        status: ok ? 'ok' : 'error',
        exit_code: result.exit_code,
        ended: result.status,
        output,
        truncated: result.truncated,
      }
      const { total_logs: seq } = await writer.append({
        entries: [serviceAction(actionTool.setup_proof, call, shown, result.duration_ms)],
      })
      const ms = Math.round(result.duration_ms)
      return { ok, output, exit_code: result.exit_code, timed_out: result.status === 'timeout', seq, ms }
    },
    [Symbol.asyncDispose]: () => sandboxes[Symbol.asyncDispose](),
  }
}

const hasPassed = ({ status, exit_code }: ExecResult) => status === 'exited' && exit_code === 0
