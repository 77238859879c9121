import type { CheckConclusion } from '../../contract/pull-requests/checks.ts'
import { failingExcerpt } from '../../core/pull-requests/failing-excerpt.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { ExecResult } from '../../sandbox/port.ts'
import { type CheckReport, saveCheck } from '../../store/pull-requests/checks.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { StartError } from '../base/base.ts'
import { runVisibleCommand, type VisibleCommand } from '../sandbox/visible-command.ts'
import { type CheckPlaces, type CheckPlacesInput, openCheckPlaces } from './check-places.ts'

/** A check that the service runs itself; `attempt`: of this commit. */
export type CheckToRun = { name: string; command: string; timeout_seconds: number; attempt: number }

export const EXCERPT_CHARS = 4_000

type Ended = { conclusion: CheckConclusion; output: string; said: Record<string, unknown>; duration_ms: number; truncated: boolean }

/**
 * Runs checks of a commit one after the other, each in a clean sandbox. That it begins is written down before, and what came of it with its
 * entry of the trace: whoever goes on after a crash runs again what has no outcome, as the same attempt. Throws SandboxError, and soon after
 * `signal` whatever comes of it, with no process left.
 */
export async function runChecks(input: CheckPlacesInput, checks: readonly CheckToRun[]): Promise<void> {
  if (checks.length === 0) return
  const { signal } = input
  await using places = await open(input)
  for (const [i, check] of checks.entries()) {
    await report(input, check, { status: 'in_progress', conclusion: null, log_excerpt: null })
    const call = { name: check.name, command: check.command, head_sha: input.head_sha, n: i + 1, of: checks.length, attempt: check.attempt }
    const ended = await runCheck(input, places, { call_id: `check-${check.attempt}-${i + 1}`, tool_name: 'check', input: call, check })
    signal.throwIfAborted()
    const { conclusion, output, said, duration_ms } = ended
    const shown = { status: conclusion === 'success' ? 'ok' : 'error', conclusion, ...said, output, truncated: ended.truncated }
    const log_excerpt = conclusion === 'success' ? null : failingExcerpt(output, EXCERPT_CHARS)
    await report(input, check, { status: 'completed', conclusion, log_excerpt }, serviceAction('check', call, shown, duration_ms))
  }
}

/** Where the sandboxes cannot be prepared every check says so. */
async function open(input: CheckPlacesInput): Promise<CheckPlaces> {
  try {
    return await openCheckPlaces(input)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { within: () => Promise.reject(error), async [Symbol.asyncDispose]() {} }
  }
}

type CheckCall = Pick<VisibleCommand, 'call_id' | 'tool_name' | 'input'> & { check: CheckToRun }

async function runCheck(to: CheckPlacesInput, places: CheckPlaces, { check, ...call }: CheckCall): Promise<Ended> {
  const { command, timeout_seconds } = check
  try {
    const ran = await runVisibleCommand(to, { ...call, command, timeout_ms: timeout_seconds * 1000 }, use => places.within(use))
    const { result } = ran
    const { conclusion, why } = endOf(result, timeout_seconds)
    const output = ran.output + (why === null ? '' : `\n${why}`)
    const said = { exit_code: result.exit_code, ...(why !== null && { error: why }) }
    return { conclusion, output, said, duration_ms: result.duration_ms, truncated: result.truncated }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    const output = await to.writer.redactor.text(error.message)
    return { conclusion: 'startup_failure', output, said: { exit_code: null, error: output }, duration_ms: 0, truncated: false }
  }
}

function endOf({ status, exit_code, memory_kills }: ExecResult, seconds: number): { conclusion: CheckConclusion; why: string | null } {
  if (status === 'timeout') return { conclusion: 'timed_out', why: `It was not done after ${seconds} s.` }
  if (status === 'output_limit') return { conclusion: 'failure', why: 'It wrote more output than it may.' }
  if (status === 'disk_limit') return { conclusion: 'failure', why: 'It filled the workspace beyond what it may hold.' }
  if (status === 'interrupted') return { conclusion: 'cancelled', why: 'It was interrupted.' }
  if (exit_code === 0) return { conclusion: 'success', why: null }
  return { conclusion: 'failure', why: memory_kills > 0 ? 'Its memory was used up.' : null }
}

/** Under the fence of the claim, with the entry. */
async function report(
  { writer, deps, run, base, head_sha }: CheckPlacesInput,
  { name, attempt }: CheckToRun,
  said: Pick<CheckReport, 'status' | 'conclusion' | 'log_excerpt'>,
  entry: ReturnType<typeof serviceAction> | null = null,
): Promise<void> {
  const url = traceUrl(deps.base_url, run.id)
  await writer.reportAlarms(`output of check ${name}`)
  await writer.db.transaction(async tx => {
    await writer.append({ entries: entry === null ? [] : [entry] }, tx)
    const report: CheckReport = { ...said, head_sha, source: 'local', name, app: null, url, attempt, started_at: null, completed_at: null }
    await saveCheck(tx, run.organization_id, base.repository.id, report)
  })
}
