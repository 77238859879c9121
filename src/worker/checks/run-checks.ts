import type { CheckConclusion } from '../../contract/pull-requests/checks.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { failingExcerpt } from '../../core/pull-requests/failing-excerpt.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { ExecResult } from '../../sandbox/port.ts'
import { type CheckReport, saveCheck } from '../../store/pull-requests/checks.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { StartError } from '../base/start-error.ts'
import { runVisibleCommand, type VisibleCommand } from '../sandbox/visible-command.ts'
import type { WorkerServices } from '../services.ts'
import { type CheckSandboxes, type CheckSandboxesInput, openCheckSandboxes } from './check-sandboxes.ts'

/** A check that the service runs itself. `attempt`: for this commit. */
export type CheckToRun = { name: string; command: string; timeout_seconds: number; attempt: number }

export const EXCERPT_CHARS = 4_000

type Input = CheckSandboxesInput & { deps: Pick<WorkerServices, 'base_url'> }
type CheckEnd = {
  conclusion: CheckConclusion
  output: string
  details: Record<string, unknown>
  duration_ms: number
  truncated: boolean
}

/**
 * Runs checks of a commit in sequence, each in a clean sandbox. The start is recorded before, the result with
 * its entry of the trace: after a crash the next worker repeats checks without a result, as the same attempt.
 * Throws SandboxError, and rejects soon after `signal`, with no process left.
 */
export async function runChecks(input: Input, checks: readonly CheckToRun[]): Promise<void> {
  if (checks.length === 0) return
  const { signal } = input
  await using sandboxes = await open(input)
  for (const [i, check] of checks.entries()) {
    await report(input, check, { status: 'in_progress', conclusion: null, log_excerpt: null })
    const call = {
      name: check.name,
      command: check.command,
      head_sha: input.head_sha,
      n: i + 1,
      of: checks.length,
      attempt: check.attempt,
    }
    const visible = { call_id: `check-${check.attempt}-${i + 1}`, tool_name: actionTool.check, input: call }
    const { conclusion, output, details, duration_ms, truncated } = await runCheck(input, sandboxes, {
      ...visible,
      check,
    })
    signal.throwIfAborted()
    const shown = {
      status: conclusion === 'success' ? 'ok' : 'error',
      conclusion,
      ...details,
      output,
      truncated,
    }
    const log_excerpt = conclusion === 'success' ? null : failingExcerpt(output, EXCERPT_CHARS)
    await report(
      input,
      check,
      { status: 'completed', conclusion, log_excerpt },
      serviceAction(actionTool.check, call, shown, duration_ms),
    )
  }
}

/** If the sandboxes cannot be prepared, every check reports that. */
async function open(input: CheckSandboxesInput): Promise<CheckSandboxes> {
  try {
    return await openCheckSandboxes(input)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { inClean: () => Promise.reject(error), async [Symbol.asyncDispose]() {} }
  }
}

type CheckCall = Pick<VisibleCommand, 'call_id' | 'tool_name' | 'input'> & { check: CheckToRun }

async function runCheck(
  to: CheckSandboxesInput,
  sandboxes: CheckSandboxes,
  { check, ...call }: CheckCall,
): Promise<CheckEnd> {
  const { command, timeout_seconds } = check
  try {
    const visible = { ...call, command, timeout_ms: timeout_seconds * 1000 }
    const { result, output } = await runVisibleCommand(to, visible, use => sandboxes.inClean(use))
    const { conclusion, why } = conclusionOf(result, timeout_seconds)
    const details = { exit_code: result.exit_code, ...(why !== null && { error: why }) }
    const { duration_ms, truncated } = result
    return { conclusion, output: output + (why === null ? '' : `\n${why}`), details, duration_ms, truncated }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const output = await to.writer.redactor.text(error.message)
    return {
      conclusion: 'startup_failure',
      output,
      details: { exit_code: null, error: output },
      duration_ms: 0,
      truncated: false,
    }
  }
}

function conclusionOf(
  { status, exit_code, memory_kills }: ExecResult,
  seconds: number,
): { conclusion: CheckConclusion; why: string | null } {
  if (status === 'timeout') return { conclusion: 'timed_out', why: `It was not done after ${seconds} s.` }
  if (status === 'output_limit') return { conclusion: 'failure', why: 'It wrote more output than it may.' }
  if (status === 'disk_limit')
    return { conclusion: 'failure', why: 'It filled the workspace beyond its limit.' }
  if (status === 'interrupted') return { conclusion: 'cancelled', why: 'It was interrupted.' }
  if (exit_code === 0) return { conclusion: 'success', why: null }
  return { conclusion: 'failure', why: memory_kills > 0 ? 'Its memory was used up.' : null }
}

/** Writes the state of a check with its entry, fenced. */
async function report(
  { writer, deps, run, base, head_sha }: Input,
  { name, attempt }: CheckToRun,
  state: Pick<CheckReport, 'status' | 'conclusion' | 'log_excerpt'>,
  entry: ReturnType<typeof serviceAction> | null = null,
): Promise<void> {
  const url = traceUrl(deps.base_url, run.id)
  await writer.reportAlarms(`output of check ${name}`)
  await writer.db.transaction(async tx => {
    await writer.append({ entries: entry === null ? [] : [entry] }, tx)
    const report: CheckReport = {
      ...state,
      head_sha,
      source: 'local',
      name,
      app: null,
      url,
      attempt,
      started_at: null,
      completed_at: null,
    }
    await saveCheck(tx, run.organization_id, base.repository.id, report)
  })
}
