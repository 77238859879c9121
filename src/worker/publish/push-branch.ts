import { setTimeout as delay } from 'node:timers/promises'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import { objectsOf, type RunObjects } from '../../git/objects/objects.ts'
import { GitError } from '../../git/process/git-error.ts'
import { fetchBranches, isAncestor } from '../../git/publish/merge.ts'
import { hasMoved, pushBranch } from '../../git/publish/push.ts'
import { workflowRefusal } from '../../git/publish/workflow-refusal.ts'
import { recordPush } from '../../store/changes.ts'
import { listPushes } from '../../store/runs/journal.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { entry, errorEntry } from '../../trace/entry.ts'
import { type Base, objectsOfRun } from '../base/base.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'

/** What git cannot name is hardly going to pass by itself. */
const ATTEMPTS_OF_THE_UNKNOWN = 3
const NOTES = {
  ahead: 'An earlier worker of this run pushed that: it goes on from there.',
  joined: 'Somebody else has pushed that: it is merged with what the agent did.',
  taken: 'The branch has other commits, of a person or of an earlier time: they stay as they are, and the work goes to a new branch.',
}
/** Milliseconds. Many runs may wait for one server. */
const retries = exponential(2_000, 5 * 60_000)

/**
 * The branch has commits that what was to be pushed does not build on. `taken`: nothing was pushed to it yet, as far as is known, and nobody
 * here knows them, or somebody has force-pushed over what was. `ahead`: it stands at `sha`, which an owner of this run was about to push.
 * `joined`: somebody has pushed on to what the run had pushed, and it stands at `sha`.
 */
export type PushConflict = { kind: 'taken'; sha: string } | { kind: 'ahead'; sha: string } | { kind: 'joined'; sha: string }

export type NotPushed =
  | PushConflict
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; reason: 'git_unavailable'; code: string; message: string }

/**
 * Pushes the run's branch. What is pushed is written down before. A remote that is away is tried again for `push_retry_ms` from the first push
 * of the turn, whichever owner made it, ever less often: the commit is in the run's own objects meanwhile, and the run stays `running` in phase `push`.
 * Every wait stands in the trace before it is waited. Null: pushed. `pushed_sha`: what this branch had last, as far as is known; `proposes`: a
 * new pull request was to follow, which a push that fails keeps from being made.
 */
export async function pushRunBranch(
  deps: WorkerDeps,
  writer: RunWriter,
  base: Base,
  { head, pushed_sha, proposes }: { head: string; pushed_sha: string | null; proposes: boolean },
  control: Control,
): Promise<NotPushed | null> {
  const { signal } = control
  const input = { repository: base.repository.url, branch: base.branch, sha: head }
  const { ours, waited_ms } = await announce(deps, writer, base.branch, head)
  if (pushed_sha !== null) ours.add(pushed_sha)
  const objects = objectsOfRun({ id: writer.run_id }, base)
  const { env } = objectsOf(deps.git, objects)
  const ends_at = performance.now() + deps.push_retry_ms - waited_ms
  for (let attempt = 1; ; attempt++) {
    const started = performance.now()
    const action = (output: Record<string, unknown>) => serviceAction('git_push', input, output, performance.now() - started)
    try {
      const { status } = await pushBranch(deps.git, base.repository, head, base.branch, {
        signal,
        timeout_ms: deps.git_limits.push_ms,
        ...(env && { env }),
      })
      await deps.db.transaction(async tx => {
        await writer.append({ entries: [action({ status: 'ok', result: status })] }, tx)
        await recordPush(tx, writer.organization_id, writer.run_id, writer.epoch, base.branch, head)
      })
      return null
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const { message } = error
      const code = `push_${error.code}`
      const found = hasMoved(error) ? await whereItStands(deps, base, objects, { head, pushed_sha }, ours, signal) : null
      const there = found !== null && 'sha' in found ? { found_sha: found.sha, note: NOTES[found.kind] } : {}
      const failed = action({ status: 'error', error: message, ...there })
      if (found !== null && found.kind !== 'again') {
        await writer.append({ entries: [failed] })
        return found
      }
      const wait = waitBefore(attempt, error, found?.kind === 'again')
      if (wait !== null && performance.now() + wait < ends_at) {
        const known = errorEntry({ code, message, retryable: true, phase: 'push', attempt, retry_in_ms: Math.round(wait) }, 'git_push')
        await writer.append({ entries: attempt === 1 ? [failed, known] : [known] })
        await control.whileIdle(delay(wait, undefined, { signal }).catch(() => {}))
        if (!signal.aborted) continue
        return { kind: 'failed', reason: 'git_unavailable', code, message }
      }
      const workflow = workflowRefusal(message)
      if (workflow !== null) {
        await writer.append({ entries: [failed] })
        return { kind: 'failed', reason: 'git_unavailable', code: 'push_workflow_permission', message: workflow }
      }
      const refused = error.code === 'rejected'
      const details = { code: error.code, message, http_status: null, retryable: !refused, attempt }
      await writer.append({
        entries: [
          failed,
          // A failure that ends the run has its ERROR as the last entry of the turn.
          ...(refused ? [errorEntry({ code, message, retryable: false, phase: 'push' }, 'git_push')] : []),
          ...(proposes
            ? [entry({ message_type: 'PR_CREATION_FAILED', observation: details, tool_name: 'git_push', tool_input: input })]
            : []),
        ],
      })
      return refused ? { kind: 'refused', message } : { kind: 'failed', reason: 'git_unavailable', code, message }
    }
  }
}

/** Writes down what is about to be pushed. `ours`: all that owners of this run were about to push there. `waited_ms`: since the first push of the turn. */
async function announce(
  deps: WorkerDeps,
  writer: RunWriter,
  branch: string,
  sha: string,
): Promise<{ ours: Set<string>; waited_ms: number }> {
  await writer.append({ records: [{ kind: 'push_started', key: null, body: JSON.stringify({ branch, sha }) }] })
  const rows = await listPushes(deps.db, writer.organization_id, writer.run_id)
  const pushes = rows.map(row => ({ ...row, ...(JSON.parse(row.body) as { branch: string; sha: string }) }))
  const turn = pushes.at(-1)?.turn
  return {
    ours: new Set(pushes.filter(push => push.branch === branch).map(push => push.sha)),
    waited_ms: pushes.find(push => push.turn === turn)?.age_ms ?? 0,
  }
}

/** What keeps a branch from being pushed to. `again`: nothing any more, or another push that is under way, or the remote does not say. */
async function whereItStands(
  deps: WorkerDeps,
  { repository, branch }: Base,
  objects: RunObjects,
  { head, pushed_sha }: { head: string; pushed_sha: string | null },
  ours: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<PushConflict | { kind: 'again' }> {
  try {
    const { head_sha } = await fetchBranches(deps.git, repository, { base: branch, head: branch }, deps.git_limits.fetch_ms, signal)
    if (head_sha === null || (await isAncestor(deps.git, objects, head_sha, head))) return { kind: 'again' }
    const joined: PushConflict = { kind: 'joined', sha: head_sha }
    // All of it is there, if not alone.
    if (await isAncestor(deps.git, objects, head, head_sha)) return joined
    if (ours.has(head_sha)) return { kind: 'ahead', sha: head_sha }
    return pushed_sha !== null && (await isAncestor(deps.git, objects, pushed_sha, head_sha)) ? joined : { kind: 'taken', sha: head_sha }
  } catch (error) {
    if (error instanceof GitError) return { kind: 'again' }
    throw error
  }
}

/** Milliseconds until the next attempt; null: the failure is permanent. */
function waitBefore(attempt: number, error: GitError, again: boolean): number | null {
  const unknown = again || error.code === 'failed'
  if (!error.retryable && !(unknown && attempt < ATTEMPTS_OF_THE_UNKNOWN)) return null
  return retryDelay(retries, attempt)
}
